// Takes messages and holds them until it is killed. Prints the id of each.
import { rabbitmqEngine } from "../../../src/engines/rabbitmq/engine.js";
import { Queue } from "../../../src/index.js";

const [url = "", name = ""] = process.argv.slice(2);
new Queue<string>(name, { engine: rabbitmqEngine({ url }) }).consume(
  ({ id }) => {
    process.stdout.write(`${id}\n`);
    return new Promise(() => {});
  },
  { concurrency: 5 },
);
