import type { Clock } from "../../clock.js";
import { gaveUp, Patience } from "../../connection/supervisor-patience.js";
import { PunctualError } from "../../errors.js";
import type { BrokerConnection } from "./broker-connection.js";

/** How long the broker may take to answer, ms. */
const answerPatience = 5_000;

/** The answer of the broker to a call; one that does not come in time, or is an error, is the end of the connection. */
export async function answered<T>(
  connection: BrokerConnection,
  call: Promise<T>,
  clock: Clock,
  timeout = answerPatience,
): Promise<T> {
  const patience = new Patience(timeout, undefined, () => clock.elapsed());
  try {
    const answer = await patience.outlasts(call);
    if (answer !== gaveUp) return answer;
    throw new PunctualError("not-sent", `The RabbitMQ did not answer within ${timeout} ms.`);
  } catch (error) {
    const failure = connection.explained(error);
    connection.drop(failure);
    throw failure;
  } finally {
    patience.end();
  }
}
