import { PunctualError } from "./errors.js";
import { invalidValue } from "./invalid-argument.js";
import { quote } from "./quote.js";

/** What others call what we call differently. */
const otherNames: Readonly<Record<string, string>> = {
  in: "delay",
  after: "delay",
  when: "at",
  runAt: "at",
  jobId: "id",
  messageId: "id",
  retries: "attempts",
  maxAttempts: "attempts",
  ttl: "expiresIn",
  workers: "concurrency",
  visibilityTimeout: "lease",
  host: "url",
  port: "url",
  uri: "url",
  socket: "url",
  connection: "url",
  user: "username",
  keyPrefix: "prefix",
};

/**
 * Refuses options that are no object, and names that there are not: a `dealy` that is ignored is a message delivered at
 * once. Names whose value is `undefined` pass.
 */
export function checkOptionNames(options: unknown, known: ReadonlySet<string>, what: string): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw invalidValue(what, options, "an object");
  }
  for (const name in options) {
    if (known.has(name) || Reflect.get(options, name) === undefined) continue;
    const near = nearest(name, known);
    const hint = near === undefined ? "" : ` Did you mean ${quote(near)}?`;
    throw new PunctualError(
      "invalid-argument",
      `${what} has no option ${quote(name)}.${hint} There are: ${[...known].join(", ")}.`,
      { details: { argument: what, option: name } },
    );
  }
}

/** The known name that a mistyped one most likely means, if any is near. */
function nearest(name: string, known: Iterable<string>): string | undefined {
  const meant = Object.hasOwn(otherNames, name) ? otherNames[name] : undefined;
  let best: string | undefined;
  // Of a short name half is soon changed: `in` is not `id`.
  let bestDistance = Math.min(3, Math.ceil(name.length / 2));
  for (const candidate of known) {
    if (candidate === meant) return meant;
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** How many letters must be added, removed or changed to make one of two short texts the other (Levenshtein). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
