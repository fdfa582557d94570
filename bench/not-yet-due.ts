/**
 * Fails when a due time had passed by the time that its messages were stored, or ready to be taken: what was late then is us, or
 * was never delayed, and the figure would be worth nothing.
 */
export function assertNotYetDue(what: string, dueAt: number, now = Date.now()): void {
  if (now < dueAt) return;
  throw new Error(
    `${what} ${Math.ceil(now - dueAt)} ms after the first message came due, so its figures mean nothing. Measure on a machine that does nothing else.`,
  );
}
