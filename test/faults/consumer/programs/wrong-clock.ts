// Gives this process another wall clock than the machine has. To be imported before anything that looks at it.
const RightDate = Date;
let ahead = 0;

/** The time of the machine, Unix ms. */
export const rightNow = (): number => RightDate.now();

/** Sets the wall clock of this process so far ahead of that of the machine, ms. */
export function setAhead(ms: number): void {
  ahead = ms;
}

const wrongNow = () => RightDate.now() + ahead;

globalThis.Date = new Proxy(RightDate, {
  construct: (target, args: unknown[], made) =>
    Reflect.construct(target, args.length === 0 ? [wrongNow()] : args, made) as object,
  get: (target, key, receiver) => (key === "now" ? wrongNow : (Reflect.get(target, key, receiver) as unknown)),
});
