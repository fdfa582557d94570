import { commandTimeout, type Supervisor } from "../../connection/supervisor.js";
import { PunctualError } from "../../errors.js";
import { idsIn } from "../../schemes/ids-in.js";
import type { KeyExpiryKeys } from "./keys.js";
import { databaseOf, turnOnNotifications } from "./notifications.js";

/** Pause before Redis is asked again for what it refused, ms. */
const retryAfter = 1_000;
/** How long the event of a probe is waited for, ms, and how often Redis is made to look at it. */
const probeTimeout = 1_000;
const probeInterval = 20;

/** Who is told of events. */
export interface Hearer {
  /** These are due, or may be. */
  due(ids: readonly string[]): void;
  /** A pause is over. */
  resumed(): void;
  /** Events are heard; some may have been missed before. */
  ready(): void;
  /** Events are not heard. */
  trouble(cause: PunctualError): void;
}

/**
 * Hears which keys of a queue expire, and what scripts tell. It goes on over lost connections, and when somebody changes the
 * setting of the server, once it is told to `check`.
 */
export class Events {
  readonly #work: Supervisor;
  readonly #keys: KeyExpiryKeys;
  readonly #hearer: Hearer;
  readonly #ended = new AbortController();
  readonly #unsubscribe: (() => Promise<void>)[] = [];
  #endState: () => void = () => {};
  #preparing: Promise<void> | undefined;
  /** The connection was lost, so there is a new one, maybe to another server. */
  #lost = false;
  #inTrouble = false;
  /** Events may have been missed. */
  #missed = false;
  /** It is to be looked again whether events come. */
  #again = false;
  #onAny: () => void = () => {};

  /** How many expiries were heard. */
  heard = 0;

  constructor(work: Supervisor, keys: KeyExpiryKeys, hearer: Hearer) {
    this.#work = work;
    this.#keys = keys;
    this.#hearer = hearer;
  }

  /**
   * Waits until events are heard, while Redis is out of reach not for long. Fails with `misconfigured`, and with `closed`.
   */
  async start(): Promise<void> {
    this.#endState = this.#work.onState((state, cause) => {
      if (cause !== undefined) this.#trouble(cause);
      if (state === "recovering") this.#lost = true;
      else if (state === "ready" && this.#lost) {
        this.#lost = false;
        this.#prepare(true);
      }
    });
    const prepared = this.#prepareOnce();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<"late">((resolve) => (timer = setTimeout(resolve, commandTimeout, "late")));
    try {
      if ((await Promise.race([prepared, late])) !== "late") this.#hearer.ready();
      else this.#prepare(true, prepared);
    } catch (error) {
      if (!(error instanceof PunctualError) || ["misconfigured", "closed"].includes(error.code)) {
        await this.stop();
        throw error;
      }
      this.#prepare(true, prepared);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Looks, in the background, whether the server still tells of keys that expire, and has it do so. */
  check(): void {
    this.#prepare(false);
  }

  async stop(): Promise<void> {
    this.#endState();
    this.#ended.abort();
    await Promise.all(this.#unsubscribe.map((end) => end()));
  }

  #prepare(missed: boolean, first?: Promise<boolean>): void {
    this.#missed ||= missed;
    this.#again = true;
    if (this.#preparing !== undefined) return;
    this.#preparing = this.#prepareUntilDone(first).finally(() => (this.#preparing = undefined));
  }

  async #prepareUntilDone(first?: Promise<boolean>): Promise<void> {
    let attempt = first;
    do {
      // Set anew by a connection that is made meanwhile: what was looked at may be the server of the one before.
      this.#again = false;
      try {
        const was = await (attempt ?? this.#prepareOnce());
        this.#missed ||= !was || this.#inTrouble;
      } catch (error) {
        if (!(error instanceof PunctualError)) throw error;
        if (this.#ended.signal.aborted || this.#work.closed) return;
        this.#trouble(error);
        await new Promise<void>((resolve) => this.#work.clock.runAfter(retryAfter, resolve));
        this.#again = true;
      }
      attempt = undefined;
      if (this.#ended.signal.aborted) return;
    } while (this.#again);
    const missed = this.#missed;
    this.#inTrouble = this.#missed = false;
    if (missed) this.#hearer.ready();
  }

  /** Answers whether the server told of keys that expire before. */
  async #prepareOnce(): Promise<boolean> {
    if (this.#unsubscribe.length === 0) {
      const { signal } = this.#ended;
      const channel = `__keyevent@${await databaseOf(this.#work)}__:expired`;
      const ends = await Promise.all([
        this.#work.subscribe(channel, (key) => this.#hearKey(key), { signal }),
        this.#work.subscribe(this.#keys.told, (told) => this.#hearTold(told), { signal }),
      ]);
      if (this.#unsubscribe.length === 0) this.#unsubscribe.push(...ends);
      else await Promise.all(ends.map((end) => end()));
    }
    return await turnOnNotifications(this.#work, () => this.#probe());
  }

  /** Whether the expiry of a key is told. */
  async #probe(): Promise<boolean> {
    const before = this.heard;
    const { clock } = this.#work;
    await this.#work.run((send) => send("SET", this.#keys.probe, "", "PX", "1"));
    for (const end = clock.elapsed() + probeTimeout; this.heard === before && clock.elapsed() < end;) {
      await new Promise<void>((resolve) => {
        this.#onAny = resolve;
        clock.runAfter(probeInterval, resolve);
      });
      await this.#work.run((send) => send("EXISTS", this.#keys.probe));
    }
    return this.heard > before;
  }

  #trouble(cause: PunctualError): void {
    this.#inTrouble = true;
    this.#hearer.trouble(cause);
  }

  #hearKey(key: Buffer): void {
    const name = key.toString("utf8");
    if (this.#ended.signal.aborted) return;
    // That of other keys, too, shows that events come.
    this.heard += 1;
    this.#onAny();
    if (name.startsWith(this.#keys.due) && name.length > this.#keys.due.length)
      this.#hearer.due([name.slice(this.#keys.due.length)]);
  }

  #hearTold(told: Buffer): void {
    if (this.#ended.signal.aborted) return;
    if (told.length === 0) return this.#hearer.resumed();
    this.#hearer.due(idsIn(told));
  }
}
