import type { Group } from "./needs.js";

/** Cases that read messages a page at a time. */
export const lists: readonly Group[] = [
  {
    needs: ["replace", "list", "purge as of now"],
    cases: ["Bounded server work: 20,000 messages are purged in one call, and what is scheduled after it began stays"],
  },
  {
    needs: ["list"],
    cases: [
      "Order: messages are listed in due order, equal due times in the order in which they were scheduled",
      "Bounded server work: large messages are listed by and by, each whole",
      "Text that is no cursor is refused with invalid-argument",
      "A cursor of another queue, or of another state, is refused with invalid-argument",
      "What is listed can be changed by its reader without changing what is kept",
      "While others come and go, each scheduled message that stays is listed once, page by page",
      "While others come and go, each due message that stays is listed once, page by page",
      "While others come and go, each leased message that stays is listed once, page by page",
      "10,000 messages that are cancelled page by page are all visited",
      "Bounded server work: 20,000 messages whose leases have ended are listed in pages of 1,000, in order, each once, while they are reclaimed",
      "Order: leased messages are listed by the time at which they were due, whenever their leases end",
      "A payload that cannot be decoded does not keep a queue from listing the others",
    ],
  },
  {
    needs: ["list", "dead letters"],
    cases: [
      "Nothing is dropped silently: once it failed for the last time, it is kept with payload, attempts, error and time, and can be revived",
      "Nothing is dropped silently: once its last lease ended, it is kept with payload, attempts, error and time, and can be revived",
      "Nothing is dropped silently: once it expired, it is kept with payload, attempts, error and time, and can be revived",
      "Nothing is dropped silently: once it was buried by hand, it is kept with payload, attempts, error and time, and can be revived",
      "Each state is listed with its messages and no others, and each of them as it is read by its id",
      "Dead letters are listed by the time of burial, those of one time by the bytes of their ids",
      "A list keeps to a range of due times, of dead letters of burial times, both ends included",
      "While others come and go, each dead message that stays is listed once, page by page",
      "A queue lists its messages as it reads them, scheduled ones unless told otherwise, with dates and cursors",
    ],
  },
  {
    needs: ["list", "revive"],
    cases: [
      "Bounded server work: 20,000 dead letters are revived in one call, each once, in the order of their burial",
      "Reviving all brings back what was dead when it began, and not again what is buried meanwhile",
      "Nothing is dropped silently: what a consumer gave up is listed, revived and then handled",
    ],
  },
  {
    needs: ["list", "purge of dead letters"],
    cases: ["Bounded server work: 5,000 dead letters are purged in one call, and what is buried after it began stays"],
  },
  {
    needs: ["list", "thousands in one ms"],
    cases: ["Bounded server work: 5,000 messages of one due time are listed in pages of 500, each once"],
  },
];
