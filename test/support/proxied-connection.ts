import { once } from "node:events";
import type { Socket } from "node:net";
import { ProxyLane, type Weather } from "./proxy-lane.js";
import { RespFrames, type RespValue, respValue } from "./resp-frames.js";

/** A request on its way through the proxy. */
export interface ProxiedRequest {
  /** In capitals. */
  readonly command: string;
  readonly args: readonly Buffer[];
}

/**
 * - `cut-before-request`: the connection is cut, and the server never sees the request.
 * - `cut-before-reply`: the server runs the request, and the connection is cut before its reply.
 * - `cut-inside-reply`: the same, after half of the reply.
 * - `hold`: the request, and what follows on its connection, stays on its way until `release`, even when the client has long
 *   gone away.
 */
export type RequestFault = "cut-before-request" | "cut-before-reply" | "cut-inside-reply" | "hold";

/** What strikes one request. */
export interface Strike {
  readonly fault: RequestFault;
  readonly happened: (request: ProxiedRequest) => void;
  readonly replied: (reply: RespValue) => void;
  readonly released: Promise<void>;
}

/** One connection through the proxy: a socket of the client, one to the server, and what is under way between them. */
export class ProxiedConnection {
  /** Commands that came over this connection. */
  readonly commands = new Set<string>();
  /**
   * Resolves when both sockets are closed. A request that is held outlives the socket of its client, and in a black hole
   * nobody hears that the other has gone.
   */
  readonly closed: Promise<unknown>;
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #toServer: ProxyLane;
  readonly #toClient: ProxyLane;
  readonly #strikeFor: (request: ProxiedRequest) => Strike | undefined;
  /** The requests that the server has yet to answer. */
  readonly #unanswered: { request: ProxiedRequest; strike: Strike | undefined }[] = [];
  /** While a request is held: what comes behind it. */
  #held: (() => void)[] | undefined;

  constructor(
    client: Socket,
    server: Socket,
    weather: Weather,
    strikeFor: (request: ProxiedRequest) => Strike | undefined,
  ) {
    this.#client = client;
    this.#server = server;
    this.#toServer = new ProxyLane(server, weather);
    this.#toClient = new ProxyLane(client, weather);
    this.#strikeFor = strikeFor;
    // What an error says is in the close that follows.
    for (const socket of [client, server]) socket.setNoDelay().on("error", () => {});
    this.closed = Promise.all([once(client, "close"), once(server, "close")].map((closing) => closing.catch(() => {})));
    const requests = new RespFrames();
    const replies = new RespFrames();
    client.on("data", (chunk) => {
      for (const frame of requests.push(chunk)) this.#inTurn(() => this.#request(frame));
    });
    server.on("data", (chunk) => {
      for (const frame of replies.push(chunk)) this.#reply(frame);
    });
    client.on("close", () => this.#inTurn(() => this.#toServer.end()));
    server.on("close", () => this.#toClient.end());
  }

  /** Resets both sockets. */
  cut(): void {
    this.#client.resetAndDestroy();
    this.#server.destroy();
  }

  swallow(): void {
    this.#toServer.swallow();
    this.#toClient.swallow();
  }

  #inTurn(step: () => void): void {
    if (this.#held === undefined) step();
    else this.#held.push(step);
  }

  #request(frame: Buffer): void {
    const words = respValue(frame);
    const [name, ...args] = Array.isArray(words) ? words.filter((word) => Buffer.isBuffer(word)) : [];
    const request = { command: String(name).toUpperCase(), args };
    // What a cut connection had already brought along is lost with it.
    if (this.#server.destroyed) return;
    this.commands.add(request.command);
    const strike = this.#strikeFor(request);
    const forward = () => {
      this.#unanswered.push({ request, strike });
      this.#toServer.send(frame);
    };
    if (strike?.fault === "cut-before-request") {
      this.cut();
      strike.happened(request);
    } else if (strike?.fault === "hold") {
      this.#hold(strike, forward);
      strike.happened(request);
    } else forward();
  }

  #hold(strike: Strike, forward: () => void): void {
    const behind: (() => void)[] = [];
    this.#held = behind;
    void strike.released.then(() => {
      this.#held = undefined;
      forward();
      for (const step of behind) this.#inTurn(step);
    });
  }

  #reply(frame: Buffer): void {
    const answered = isNews(frame) ? undefined : this.#unanswered.shift();
    answered?.strike?.replied(respValue(frame));
    const fault = answered?.strike?.fault;
    if (fault === "cut-before-reply") {
      this.cut();
      answered?.strike?.happened(answered.request);
    } else if (fault === "cut-inside-reply") {
      this.#server.destroy();
      // In good order, unlike a cut: a reset could overtake the half that is to arrive.
      this.#client.end(frame.subarray(0, Math.ceil(frame.length / 2)));
      answered?.strike?.happened(answered.request);
    } else this.#toClient.send(frame);
  }
}

/** Whether a frame is a published message. The confirmations of SUBSCRIBE and UNSUBSCRIBE are pushed, too, but are replies. */
function isNews(frame: Buffer): boolean {
  if (frame[0] !== ">".charCodeAt(0)) return false;
  const value = respValue(frame);
  return Array.isArray(value) && /^(message|pmessage|smessage|invalidate)$/.test(String(value[0]));
}
