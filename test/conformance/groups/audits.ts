import type { Group } from "./needs.js";

/** Cases that look for orphans, or mend them. */
export const audits: readonly Group[] = [
  {
    needs: ["get", "repair"],
    cases: ["No orphans: a repair touches nothing where nothing is broken"],
  },
  {
    needs: ["cancel", "audit"],
    cases: [
      "No orphans: an audit finds none after a cancellation",
      "No orphans: audits while producers and consumers are at work find none, and none afterwards",
    ],
  },
  {
    needs: ["reschedule", "audit"],
    cases: ["No orphans: an audit finds none after a reschedule"],
  },
  {
    needs: ["reschedule", "revive", "audit"],
    cases: ["No orphans: an audit finds none after touching leases that have ended"],
  },
  {
    needs: ["replace", "audit"],
    cases: [
      "No orphans: an audit finds none after a replacement",
      "No orphans: an audit finds none after a replacement of dead letters",
    ],
  },
  {
    needs: ["revive", "audit"],
    cases: ["No orphans: an audit finds none after a revival"],
  },
  {
    needs: ["remove", "audit"],
    cases: ["No orphans: an audit finds none after a removal"],
  },
  {
    needs: ["purge of dead letters", "audit"],
    cases: [
      "At least once: purging the dead letters deletes these, and nothing else",
      "No orphans: an audit finds none after a purge of dead letters",
    ],
  },
  {
    needs: ["purge", "audit"],
    cases: ["No orphans: an audit finds none after a purge"],
  },
  {
    needs: ["audit"],
    cases: [
      "No orphans: an audit finds none after a claim",
      "No orphans: an audit finds none after an acknowledgement",
      "No orphans: an audit finds none after a retry",
      "No orphans: an audit finds none after a last retry",
      "No orphans: an audit finds none after a release",
      "No orphans: an audit finds none after a release with a delay",
      "No orphans: an audit finds none after a burial",
      "No orphans: an audit finds none after an extension",
      "No orphans: an audit finds none after leases ended",
      "No orphans: an audit finds none after a reclaim",
      "No orphans: an audit finds none in an empty queue, and looks at each message of a full one",
    ],
  },
];
