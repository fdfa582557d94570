import type { Group } from "./needs.js";

/** Cases about leases that end, or that another process holds. */
export const leases: readonly Group[] = [
  {
    needs: ["get", "reclaim"],
    cases: [
      "At least once: a message whose holder says nothing comes again after each lease, until it is acknowledged",
      "One lease at a time: after acknowledge with a lease that was reclaimed the message is read as before",
      "One lease at a time: after retry with a lease that was reclaimed the message is read as before",
      "One lease at a time: after release with a lease that was reclaimed the message is read as before",
      "One lease at a time: after bury with a lease that was reclaimed the message is read as before",
      "One lease at a time: after extend with a lease that was reclaimed the message is read as before",
      "Bounded redelivery: the lease of a received message is not extended unless its holder does it",
    ],
  },
  {
    needs: ["get", "ended leases"],
    cases: [
      "One lease at a time: a lease whose deadline has passed cannot be extended, though nobody has reclaimed it",
      "Idempotent schedule: an id that is lease ended, kept, answers duplicate and leaves exactly one message",
      "An id that is lease ended, scheduled again with replace, answers replaced",
      "Cancel tells the truth: an id that is lease ended is answered with cancelled",
      "Rescheduling an id that is lease ended answers rescheduled",
    ],
  },
  {
    needs: ["get", "leased elsewhere"],
    cases: [
      "Cancel tells the truth: an id that is leased is answered with leased",
      "Rescheduling an id that is leased answers leased",
    ],
  },
  {
    needs: ["get", "dead letters", "ended leases"],
    cases: [
      "A lease that has ended is read as reclaimed: due since its end with one attempt used, or dead after the last",
      "Opaque payload: empty comes out as it went in, when read, reclaimed and dead",
      "Opaque payload: one NUL comes out as it went in, when read, reclaimed and dead",
      "Opaque payload: every byte comes out as it went in, when read, reclaimed and dead",
      "Opaque payload: no UTF-8 comes out as it went in, when read, reclaimed and dead",
      "Opaque payload: empty JSON array comes out as it went in, when read, reclaimed and dead",
      "Opaque payload: JSON with large numbers comes out as it went in, when read, reclaimed and dead",
      "Opaque payload: line ends comes out as it went in, when read, reclaimed and dead",
      "Opaque payload: what looks like a number comes out as it went in, when read, reclaimed and dead",
      "Opaque payload: 1 MiB comes out as it went in, when read, reclaimed and dead",
    ],
  },
  {
    needs: ["cancel", "leased elsewhere"],
    cases: ["Cancel tells the truth: while others claim, each message is either cancelled or delivered, never both"],
  },
  {
    needs: ["dead letters", "purge", "reclaim"],
    cases: ["At least once: purging what waits deletes what is scheduled or due, and nothing that is leased or dead"],
  },
  {
    needs: ["reclaim"],
    cases: [
      "Bounded redelivery: what a claim took that does not return is due again when its lease ends",
      "One lease at a time: a leased message is claimed by nobody else until its lease ends",
      "One lease at a time: acknowledge with a lease that was reclaimed gets lease-lost and changes nothing",
      "One lease at a time: retry with a lease that was reclaimed gets lease-lost and changes nothing",
      "One lease at a time: release with a lease that was reclaimed gets lease-lost and changes nothing",
      "One lease at a time: bury with a lease that was reclaimed gets lease-lost and changes nothing",
      "One lease at a time: extend with a lease that was reclaimed gets lease-lost and changes nothing",
      "Order: what is reclaimed is due as of the end of its lease, behind what was due before and before what came after",
      "Bounded server work: 20,000 leases that end at once are reclaimed by and by, each with one attempt used",
      "Bounded redelivery: a process that starts after another was killed delivers what that one held",
      "One lease at a time: a handler that could not keep its lease is told so, and what it settles changes nothing",
      "Bounded redelivery: what a killed process held with a lease of 1 s is delivered by an idle one within 2 s",
      "One clock: a claimer whose clock is an hour behind takes nothing early and no lease before its end",
      "One clock: a claimer whose clock is an hour ahead takes nothing early and no lease before its end",
    ],
  },
  {
    needs: ["reclaim", "pause"],
    cases: ["Pause is a pause: who holds a lease may settle it, and a lease that ends is not given to anybody"],
  },
  {
    needs: ["reclaim", "next due time"],
    cases: ["Bounded redelivery: what was held is due again as of the end of its lease, with one attempt used"],
  },
];
