/**
 * Lets pieces of work run one after the other. Several consumers of one process that read the same head of a queue at the
 * same time would get the same messages, of which each could have one.
 */
export class OneAtATime {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` when all that was given before has ended, however it ended. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work, work);
    this.#last = result.catch(() => {});
    return result;
  }
}
