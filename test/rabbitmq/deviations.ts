import { needing } from "../conformance/groups/needing.js";
import { because, cannot, firstOf, refused } from "../support/deviations.js";

/** The conformance cases that the RabbitMQ engine does not pass, each with its kind and the reason. */
export const deviations = firstOf(
  refused("a broker has no switch that holds all consumers of a queue back", needing("pause")),
  because("a broker does not tell when the next message comes due, it hands it over then", needing("next due time")),
  refused(
    "the queues of a prefix wait in one ladder, so what waits for one of them cannot be deleted",
    needing("purge"),
  ),
  refused("a broker cannot move a message that waits", needing("reschedule")),
  refused("a broker cannot take back a message that it has", needing("cancel")),
  refused("a broker finds no message to replace", needing("replace")),
  refused("the ladder holds a message for 17 years at most", needing("far due times")),
  because("a broker knows no ids, so an id that is scheduled again is another message", needing("duplicates")),
  refused("a broker knows no ids, so it remembers none", needing("rememberFor")),
  refused("the case looks at a message, and a broker finds none by its id", needing("get")),
  refused("a broker shows no message without handing it out, so there is no list", needing("list")),
  cannot(
    "bury with deadLetters",
    "its dead letters lie in a queue of the broker, which only a policy can bound",
    needing("bounds"),
  ),
  refused("a broker shows nobody how it keeps its messages, so there is no audit", needing("audit")),
  because("a broker does not tell how many messages another process holds", needing("counts of leased")),
  because("what is scheduled is counted for all queues of a prefix together", needing("counts of one queue")),
  because(
    "messages overtake each other on the ladder, and only those that one claim takes are put in order",
    needing("order of thousands"),
  ),
  because("a broker has no clock that clients can read, so the clocks of this machine decide", needing("clock")),
);
