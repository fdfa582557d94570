import type { Group } from "./needs.js";

/** Cases about what was given up, and about purges. */
export const deadLetters: readonly Group[] = [
  {
    needs: ["get", "dead letters"],
    cases: [
      "Idempotent schedule: an id that is last lease ended, kept, answers duplicate and leaves exactly one message",
      "Idempotent schedule: an id that is dead, kept, answers duplicate and leaves exactly one message",
      "An id that is last lease ended, scheduled again with replace, answers replaced",
      "An id that is dead, scheduled again with replace, answers replaced",
      "Idempotent schedule: a failed message that is replaced starts anew, with all its attempts and without its error",
      "Nothing is dropped silently: a buried message keeps payload, headers, attempts, reason, error, due time and time",
      "Nothing is dropped silently: after its last attempt a message is dead, with its attempts, error and reason attempts",
      "Nothing is dropped silently: a lease that ends on the last attempt leaves the message dead, and a claim says so",
      "The limit of attempts is fixed when a message is claimed, and holds for the lease",
      "Nothing is dropped silently: what has used more attempts than the consumer allows is buried, not delivered",
      "Buried counts the delivery that it ends as an attempt, released does not",
      "Nothing is dropped silently: an expired message is buried with reason expired instead of delivered",
      "Nothing is dropped silently: a message that failed and then expired is dead, with the attempt that it used",
      "Cancel tells the truth: an id that is last lease ended is answered with cancelled",
      "Cancel tells the truth: an id that is dead is answered with cancelled",
      "Rescheduling an id that is last lease ended answers dead",
      "Rescheduling an id that is dead answers dead",
      "A message is read with its state: scheduled, due, leased until when, dead since when and why",
      "Nothing is dropped silently: a handler that throws an Error is retried, and at last dead with what it threw",
      "Nothing is dropped silently: a handler that throws text is retried, and at last dead with what it threw",
      "Nothing is dropped silently: a handler that throws nothing is retried, and at last dead with what it threw",
      "Nothing is dropped silently: a handler that throws null is retried, and at last dead with what it threw",
      "Nothing is dropped silently: a handler that throws a plain object is retried, and at last dead with what it threw",
      "Nothing is dropped silently: a handler that throws an object that cannot be made text is retried, and at last dead with what it threw",
      "Nothing is dropped silently: a handler that throws an error of 100,000 signs is retried, and at last dead with what it threw",
      "A message that its handler settled by bury is read as dead, whatever the handler did next",
      "Nothing is dropped silently: a payload that the codec cannot read is dead with reason undecodable, undelivered",
      "A queue reads its messages back as they were scheduled: payload, state, dates, headers, and why one is dead",
    ],
  },
  {
    needs: ["get", "handed back"],
    cases: [
      "A handler that fails after its consumer gave up waiting changes nothing of the message that it handed back",
    ],
  },
  {
    needs: ["get", "revive"],
    cases: [
      "An id that is absent counts 0 when it is revived",
      "An id that is scheduled counts 0 when it is revived",
      "An id that is due counts 0 when it is revived",
      "An id that is leased counts 0 when it is revived",
      "An id that is lease ended counts 0 when it is revived",
      "An id that is last lease ended counts 1 when it is revived",
      "An id that is dead counts 1 when it is revived",
      "An id that is acknowledged counts 0 when it is revived",
    ],
  },
  {
    needs: ["get", "remove"],
    cases: [
      "An id that is absent counts 0 when it is removed",
      "An id that is scheduled counts 0 when it is removed",
      "An id that is due counts 0 when it is removed",
      "An id that is leased counts 0 when it is removed",
      "An id that is lease ended counts 0 when it is removed",
      "An id that is last lease ended counts 1 when it is removed",
      "An id that is dead counts 1 when it is removed",
      "An id that is acknowledged counts 0 when it is removed",
    ],
  },
  {
    needs: ["get", "cancel", "revive"],
    cases: ["An id that is cancelled counts 0 when it is revived"],
  },
  {
    needs: ["get", "cancel", "remove"],
    cases: ["An id that is cancelled counts 0 when it is removed"],
  },
  {
    needs: ["get", "duplicates", "dead letters"],
    cases: ["Ids with spaces, colons, braces, emoji, NUL and up to 256 bytes are kept apart and work everywhere"],
  },
  {
    needs: ["revive"],
    cases: [
      "Order: revived messages go behind those that have their due time already",
      "A revived message has its own limit of attempts anew, and can come to the dead letters again",
      "A consumer that waits gets revived messages at once",
    ],
  },
  {
    needs: ["remove"],
    cases: ["Bounded server work: 5,000 ids in one call are removed, those that are dead letters"],
  },
  {
    needs: ["purge of dead letters", "purge"],
    cases: ["A queue purges, audits and repairs as its engine does"],
  },
  {
    needs: ["bounds"],
    cases: [
      "Dead letters over the bound of the engine fall out, the oldest first, and whoever buried is told",
      "Dead letters that are older than the engine keeps them fall out when another one comes, in whatever way",
      "Dead letters that are older than the engine keeps them fall out with the next claim, though none is buried",
      "A consumer tells which dead letters fell out of the bounds, and how many ever did",
    ],
  },
  {
    needs: ["counts of dead", "counts of leased"],
    cases: ["Counts tell scheduled, due, leased and dead apart"],
  },
  {
    needs: ["counts of one queue"],
    cases: ["At least once: a queue that is opened again holds what was scheduled, and queues do not mix"],
  },
  {
    needs: ["purge"],
    cases: [
      "Purging what waits deletes what is scheduled or due and frees its ids, and leaves what is leased to its holder",
      "Bounded server work: 20,000 messages that wait are purged in one call, and what is scheduled afterwards stays",
      "While others claim, each message is either purged or delivered, never both",
    ],
  },
];
