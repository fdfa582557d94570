import type { Group } from "./needs.js";

/** Cases about when a consumer claims: pauses, wake-ups, and the clock that decides. */
export const waking: readonly Group[] = [
  {
    needs: ["get", "pause"],
    cases: [
      "One clock: a process whose clock is an hour behind schedules, delivers and reads states by the clock of the engine",
      "One clock: a process whose clock is an hour ahead schedules, delivers and reads states by the clock of the engine",
    ],
  },
  {
    needs: ["get", "dead letters", "pause"],
    cases: ["Pause is a pause: what expired meanwhile is buried after resume, and the rest is delivered"],
  },
  {
    needs: ["cancel", "pause"],
    cases: ["A paused queue takes new messages, cancels and reschedules as ever, and its neighbours are not paused"],
  },
  {
    needs: ["pause"],
    cases: [
      "Pause is a pause: after pause no claim of any process takes anything, until resume",
      "Pause is a pause: clocks go on, so that what came due meanwhile is delivered once after resume, in order",
      "Pause is a pause: who holds a lease may settle it, and what comes back stays until the pause ends",
      "Pause is a pause: pausing twice is pausing once, and resuming what is not paused changes nothing",
      "A paused queue takes new messages, keeps them over the pause, and its neighbours are not paused",
      "Pause is a pause: no handler starts after pause has resolved, and all that came due starts once after resume",
      "Pause is a pause: receiving gets nothing in a pause, and one that waits gets it when the pause ends",
      "Until a far message a consumer that sleeps wakes when a pause ends in which another came due",
      "Until a far message 10 consumers that sleep wake when a pause ends in which another came due",
      "Until a far message 50 consumers that sleep wake when a pause ends in which another came due",
    ],
  },
  {
    needs: ["pause", "idle"],
    cases: ["Cheap when idle: a consumer that waits in a pause with messages due makes at most one call in 5 s"],
  },
  {
    needs: ["idle"],
    cases: ["Cheap when idle: a consumer that waits for a far message makes at most one call in 5 s"],
  },
  {
    needs: ["waking to the ms"],
    cases: [
      "A watch is told of a message that is due earlier than its claim said, and of nothing after it has ended",
      "One that claims and does not return is never waited for: what comes due goes to a consumer that waits, at once",
    ],
  },
  {
    needs: ["next due time"],
    cases: [
      "Never early: a claim takes nothing before the due time, and all that is due at it",
      "A claim says when to come back: at once while more is due, at the next due time, else within the poll",
    ],
  },
  {
    needs: ["clock"],
    cases: [
      "One clock: consumers keep time and leases when the clock of their process steps to an hour behind",
      "One clock: consumers keep time and leases when the clock of their process steps to an hour ahead",
    ],
  },
];
