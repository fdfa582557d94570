/** The right time, Unix ms. */
export const machineTime = Date.now;

let offset = 0;
const wrongTime = () => machineTime() + offset;

// `Date.now` and `new Date` of all code in this process. Timers and `performance.now` go on, as when the clock of a machine is set.
globalThis.Date = new Proxy(Date, {
  get: (target, name) => (name === "now" ? wrongTime : Reflect.get(target, name)),
  construct: (target, given: [], made) => Reflect.construct(target, given.length === 0 ? [wrongTime()] : given, made),
});

/** Has the clock of this process jump ahead by so much, ms, or back. */
export function stepClock(by: number): void {
  offset += by;
}
