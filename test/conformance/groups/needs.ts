/**
 * What a case needs of an engine. Named is what it stumbles on first where an engine has not got it, so that one which
 * lacks several things gives the reason that a user meets.
 */
export type Need =
  /** Reading a message by its id. */
  | "get"
  /** Removing a message by its id. */
  | "cancel"
  /** Refusing nothing when nothing is asked for: a batch of no ids. */
  | "cancel of nothing"
  /** Moving a message to another due time. */
  | "reschedule"
  /** Scheduling in place of a message that is there. */
  | "replace"
  /** Knowing ids of messages that are gone. */
  | "rememberFor"
  /** Knowing that a message with this id is there. */
  | "duplicates"
  /** The same, though the one that is there has other bytes. */
  | "duplicates that differ"
  /** Due times up to the latest of `Date`. */
  | "far due times"
  /** Reading messages of one state in order, page by page. */
  | "list"
  /** Keeping what was given up, where it can be read. */
  | "dead letters"
  /** Keeping the errors of handlers. */
  | "errors"
  /** Keeping a message whose handler failed after its consumer had handed it back. */
  | "handed back"
  /** Bringing dead letters back. */
  | "revive"
  /** Deleting dead letters by their ids. */
  | "remove"
  /** Deleting all dead letters. */
  | "purge of dead letters"
  /** Keeping so many dead letters, for so long. */
  | "bounds"
  /** Counting dead letters. */
  | "counts of dead"
  /** Counting what other processes hold. */
  | "counts of leased"
  /** Counting what is scheduled in one queue alone. */
  | "counts of one queue"
  /** Deleting what waits. */
  | "purge"
  /** Leaving what is scheduled while a purge runs. */
  | "purge as of now"
  /** Giving a message to others when its lease ends, also when its holder was killed. */
  | "reclaim"
  /** Telling, reading and changing a message whose lease has ended as one that is due. */
  | "ended leases"
  /** Telling everybody that a message is being worked on. */
  | "leased elsewhere"
  /** Giving what is due at once, to whoever asks, in due order. */
  | "due order"
  /** Giving equal due times in the order of scheduling. */
  | "order of scheduling"
  /** Keeping that order for a message that was rescheduled. */
  | "place kept"
  /** Room for thousands of messages in one ms. */
  | "thousands in one ms"
  /** Keeping the order of thousands that come due together. */
  | "order of thousands"
  /** Holding all consumers of a queue back. */
  | "pause"
  /** Sending nothing while there is nothing to do. */
  | "idle"
  /** Telling those that wait of a due time in the ms in which it comes. */
  | "waking to the ms"
  /** Telling when the next message comes due. */
  | "next due time"
  /** A clock of the store, which decides. */
  | "clock"
  /** Looking for orphans. */
  | "audit"
  /** Mending what an audit finds. */
  | "repair";

/** Cases that need the same. */
export interface Group {
  readonly needs: readonly Need[];
  readonly cases: readonly string[];
}
