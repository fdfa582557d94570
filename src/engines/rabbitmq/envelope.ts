import type { FailureRecord } from "../../engine.js";

/** A message as this engine keeps it in the broker. */
export interface Envelope {
  readonly id: string;
  readonly payload: Buffer;
  readonly dueAt: number;
  /** Its place among messages of one due time. */
  readonly turn: number;
  /** Deliveries that counted before it was put into the broker. */
  readonly failures: number;
  /** Deliveries at most, over the limit of the consumer. */
  readonly attempts?: number | undefined;
  readonly expiresAt?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly lastError?: (FailureRecord & { readonly at: number }) | undefined;
  readonly buried?: { readonly reason: string; readonly at: number } | undefined;
}

/**
 * The names of the headers in which it is written down. Not in the properties of AMQP: those hold 255 bytes at most, and an
 * id may have 256. The headers of the program are one text for the same reason, and so that none meets a name of the broker.
 */
const header = {
  id: "punctual-id",
  dueAt: "punctual-due",
  turn: "punctual-turn",
  failures: "punctual-failures",
  attempts: "punctual-attempts",
  expiresAt: "punctual-expires",
  headers: "punctual-headers",
  lastError: "punctual-error",
  buried: "punctual-buried",
} as const;

/** The headers of an AMQP message. None of those that the broker added on the way is kept: they grow with each hop. */
export function headersOf(envelope: Envelope): Record<string, unknown> {
  const headers: Record<string, unknown> = {
    [header.id]: envelope.id,
    [header.dueAt]: envelope.dueAt,
    [header.turn]: envelope.turn,
    [header.failures]: envelope.failures,
  };
  if (envelope.attempts !== undefined) headers[header.attempts] = envelope.attempts;
  if (envelope.expiresAt !== undefined) headers[header.expiresAt] = envelope.expiresAt;
  if (envelope.headers !== undefined) headers[header.headers] = JSON.stringify(envelope.headers);
  if (envelope.lastError !== undefined) headers[header.lastError] = JSON.stringify(envelope.lastError);
  if (envelope.buried !== undefined) headers[header.buried] = JSON.stringify(envelope.buried);
  return headers;
}

/**
 * Reads a message. Anybody can publish to a queue of a broker: what is missing is taken for nothing, so that such a message is
 * delivered, and can be buried, instead of standing in the way for ever.
 */
export function envelopeFrom(payload: Buffer, headers: Readonly<Record<string, unknown>>, strange: string): Envelope {
  const number = (name: string) => {
    const value = Number(headers[name]);
    return headers[name] === undefined || !Number.isFinite(value) ? undefined : value;
  };
  const { [header.id]: id } = headers;
  return {
    id: typeof id === "string" && id !== "" ? id : strange,
    payload,
    dueAt: number(header.dueAt) ?? 0,
    turn: number(header.turn) ?? 0,
    failures: number(header.failures) ?? 0,
    attempts: number(header.attempts),
    expiresAt: number(header.expiresAt),
    headers: parsed(headers[header.headers], isTexts),
    lastError: parsed(headers[header.lastError], isError),
    buried: parsed(headers[header.buried], isBurial),
  };
}

function parsed<T>(text: unknown, is: (value: object) => value is T & object): T | undefined {
  if (typeof text !== "string") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && is(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isTexts = (value: object): value is Record<string, string> =>
  Object.values(value).every((text) => typeof text === "string");

const isError = (value: object): value is FailureRecord & { at: number } =>
  "name" in value && "message" in value && "at" in value && typeof value.at === "number";

const isBurial = (value: object): value is { reason: string; at: number } =>
  "reason" in value && typeof value.reason === "string" && "at" in value && typeof value.at === "number";
