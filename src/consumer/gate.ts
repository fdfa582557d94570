/** A promise that is fulfilled from outside, once. */
export class Gate {
  readonly opened: Promise<void>;
  readonly #open: () => void;

  constructor() {
    let open = () => {};
    this.opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    this.#open = open;
  }

  /** Fulfils the promise; again does nothing. */
  open(): void {
    this.#open();
  }
}
