import { describe, expect, it } from "vitest";
import { type CommandArgument, CommandFailure, type Connection, type Connector } from "../../clients/port.js";
import { Supervisor } from "../../connection/supervisor.js";
import { closedAtEnd } from "../../../test/support/closed-at-end.js";
import { defineScript } from "../../scripting/script.js";
import { Enlisting } from "./enlisting.js";
import { PartitionsNote } from "./partitions-note.js";

const [note, work] = [
  defineScript("note", "return {1}"),
  defineScript("work", "return {2}", { harmlessWhenLate: true }),
];
const scripts = new Map([note, work].map(({ sha1, name }) => [sha1, name]));

/** A server that says on which link, and on which connection of it, scripts came. */
class HeardServer {
  readonly heard: string[] = [];
  /** Called when a script has come; its reply waits for what this gives, and is lost when that fails. */
  answering: (heard: string) => Promise<void> | undefined = () => undefined;

  link(name: string) {
    let made = 0;
    let cut: () => void = () => {};
    const connect = async (): Promise<Connection> => {
      const place = `${name} ${++made}`;
      const lost = new Promise<never>((_, reject) => (cut = () => reject(new CommandFailure("unknown", "cut"))));
      lost.catch(() => {});
      return {
        send: async (command: readonly CommandArgument[]) => {
          if (command[0] === "TIME") return [Buffer.from("1700000000"), Buffer.from("0")];
          const heard = `${scripts.get(String(command[1]))} on ${place}`;
          this.heard.push(heard);
          await Promise.race([this.answering(heard), lost]);
          return [Buffer.from("1700000000000")];
        },
        subscribe: async () => {},
        unsubscribe: async () => {},
        onLost: (listener) => void lost.catch(listener),
        destroy: () => cut(),
      };
    };
    const connector: Connector = { target: name, connect };
    const supervisor = new Supervisor({ connector, random: () => 0 });
    closedAtEnd({ [Symbol.asyncDispose]: () => supervisor.close() });
    return { supervisor, cut: () => cut() };
  }
}

function scene() {
  const server = new HeardServer();
  const [calls, works] = [server.link("calls"), server.link("works")];
  const shared = new PartitionsNote(
    calls.supervisor,
    async (options) => void (await calls.supervisor.evaluate(note, [], [], options)),
  );
  const partitions = Array.from({ length: 3 }, () => ({
    calls: new Enlisting(calls.supervisor, shared),
    works: new Enlisting(works.supervisor, shared),
  }));
  const run = (link: "calls" | "works", options = {}) =>
    Promise.all(partitions.map((partition) => partition[link].evaluate(work, [], [], options)));
  return { server, calls, works, run };
}

/** Cuts the connection of a link; resolves when there is another one. */
async function replaced({ supervisor, cut }: ReturnType<HeardServer["link"]>): Promise<void> {
  const ready = new Promise<void>((resolve) => supervisor.onState((state) => state === "ready" && resolve()));
  cut();
  await ready;
}

const thrice = (text: string) => [text, text, text];

describe("Before anything of a queue in partitions runs, into how many it is split", () => {
  it("is noted once for all partitions, and for each connection that is new", async () => {
    const { server, run } = scene();
    await run("calls");
    await run("calls");
    expect(server.heard).toEqual(["note on calls 1", ...thrice("work on calls 1"), ...thrice("work on calls 1")]);
    server.heard.length = 0;
    await run("works");
    await run("works");
    await run("calls");
    expect(server.heard.slice(0, 4)).toEqual(["note on calls 1", ...thrice("work on works 1")]);
    expect(server.heard.filter((heard) => heard.startsWith("note"))).toHaveLength(1);
  });

  it("is noted anew when a connection was lost, also for a call that is repeated on the next", async () => {
    const { server, works, run } = scene();
    await run("works");
    server.heard.length = 0;
    server.answering = (heard) => {
      if (heard !== "work on works 1") return undefined;
      works.cut();
      return new Promise(() => {});
    };
    await run("works");
    const again = server.heard.slice(server.heard.indexOf("note on calls 1"));
    expect(again).toEqual(["note on calls 1", ...thrice("work on works 2")]);
  });

  it("is noted anew when the connection on which it is noted was lost, though the other one lives", async () => {
    const { server, calls, run } = scene();
    await run("works");
    await replaced(calls);
    server.heard.length = 0;
    await run("works");
    expect(server.heard).toEqual(["note on calls 2", ...thrice("work on works 1")]);
  });

  it("is noted anew for a connection that was made while a note was under way", async () => {
    const { server, works, run } = scene();
    await run("works");
    await run("calls");
    server.heard.length = 0;
    let isFirst = true;
    server.answering = async (heard) => {
      if (!isFirst || !heard.startsWith("note")) return;
      isFirst = false;
      await replaced(works);
    };
    works.cut();
    await run("works");
    expect(server.heard).toEqual(["note on calls 1", "note on calls 1", ...thrice("work on works 3")]);
  });

  it("is noted by a call that waited for another one to do so, when that one gives up", async () => {
    const { server, run } = scene();
    let letGo = () => {};
    const isOpen = new Promise<void>((resolve) => (letGo = resolve));
    const began = new Promise<void>((resolve) => {
      server.answering = (heard) => {
        if (!heard.startsWith("note")) return undefined;
        resolve();
        return isOpen;
      };
    });
    const hurried = new AbortController();
    const first = run("calls", { signal: hurried.signal });
    await began;
    const second = run("calls");
    hurried.abort();
    await expect(first).rejects.toMatchObject({ code: "not-sent" });
    letGo();
    expect(await second).toHaveLength(3);
    expect(server.heard).toEqual(["note on calls 1", "note on calls 1", ...thrice("work on calls 1")]);
  });
});
