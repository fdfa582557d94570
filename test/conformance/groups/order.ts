import type { Group } from "./needs.js";

/** Cases about the order in which messages are claimed. */
export const order: readonly Group[] = [
  {
    needs: ["reschedule", "place kept"],
    cases: ["Order: a rescheduled message takes its place among equal due times as the one scheduled when it was"],
  },
  {
    needs: ["due order"],
    cases: [
      "At least once: what one process scheduled another one claims, each message, none twice",
      "One lease at a time: two processes that claim at the same moment share out what is due, none twice",
      "A released message without a delay keeps its due time and its place, and no attempt is used",
      "Bounded server work: a claim gives at most 1,000 messages however many are asked for, and says that more is due",
    ],
  },
  {
    needs: ["due order", "order of scheduling"],
    cases: [
      "Order: messages that are retried in one call keep the order in which they were scheduled",
      "Order: a consumer with a concurrency of 1 handles equal due times in the order of scheduling",
    ],
  },
  {
    needs: ["due order", "order of scheduling", "order of thousands"],
    cases: ["Order: messages that a program schedules one by one, without waiting, keep that order, however many"],
  },
  {
    needs: ["due order", "order of scheduling", "thousands in one ms", "order of thousands"],
    cases: ["Order: 20,000 messages with random ids that are due in the same ms keep the order of scheduling"],
  },
  {
    needs: ["order of scheduling"],
    cases: ["Order: equal due times are claimed in the order in which two producers scheduled them"],
  },
];
