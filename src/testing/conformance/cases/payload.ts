import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance-case.js";
import { bytes, hour, onStage, second } from "../stage.js";

const mebibyte = 2 ** 20;

/** Payloads that something between producer and consumer might bend. */
const payloads: Readonly<Record<string, Uint8Array>> = {
  empty: new Uint8Array(0),
  "one NUL": new Uint8Array(1),
  "every byte": Uint8Array.from({ length: 256 }, (_, index) => index),
  "no UTF-8": Uint8Array.from([0xff, 0xfe, 0xc0, 0x80, 0xed, 0xa0, 0x80]),
  "empty JSON array": bytes("[]"),
  "JSON with large numbers": bytes('{"a":9007199254740993,"b":1e300,"c":[{}],"d":null}'),
  "line ends": bytes("\r\n$5\r\n*2\r\n"),
  "what looks like a number": bytes("0000012"),
  "1 MiB": Uint8Array.from({ length: mebibyte }, (_, index) => (index * 31 + (index >> 8)) % 256),
};

const headers = { "content-type": "x/y" };

function expectSame(got: Uint8Array | undefined, name: string): void {
  const sent = payloads[name];
  assert.ok(got !== undefined && sent !== undefined, name);
  assert.equal(got.length, sent.length, `${name}: length`);
  assert.ok(Buffer.from(got).equals(sent), `${name}: bytes`);
}

export const payloadCases: readonly ConformanceCase[] = [
  ...Object.entries(payloads).map(([name, payload]): ConformanceCase => ({
    promise: 11,
    operation: "schedule",
    name: `Opaque payload: ${name} comes out as it went in, when delivered, retried and released`,
    run: onStage(async (stage) => {
      await stage.put("a", { payload, headers, attempts: 3, expiresIn: hour });
      const first = await stage.take();
      expectSame(first.messages[0]?.payload, name);
      await stage.queue.retry(first.receipts.map((receipt) => ({ ...receipt, delay: 0 })));
      const retried = await stage.take();
      expectSame(retried.messages[0]?.payload, name);
      await stage.queue.release(retried.receipts);
      const released = await stage.take({ from: stage.otherQueue });
      expectSame(released.messages[0]?.payload, name);
      assert.deepEqual({ ...released.messages[0]?.headers }, headers);
    }),
  })),
  ...Object.entries(payloads).map(([name, payload]): ConformanceCase => ({
    promise: 11,
    operation: "get",
    name: `Opaque payload: ${name} comes out as it went in, when read, reclaimed and dead`,
    run: onStage(async (stage) => {
      await stage.put("a", { payload, headers, attempts: 3, expiresIn: hour });
      expectSame((await stage.read("a")).payload, name);
      await stage.take({ lease: second });
      await stage.harness.elapse(second + 20);
      const reclaimed = await stage.take();
      expectSame(reclaimed.messages[0]?.payload, name);
      assert.deepEqual({ ...reclaimed.messages[0]?.headers }, headers);
      await stage.queue.bury(reclaimed.receipts.map((receipt) => ({ ...receipt, reason: "poison" })));
      const dead = await stage.read("a");
      assert.equal(dead.state, "dead");
      expectSame(dead.payload, name);
    }),
  })),
  {
    promise: 11,
    operation: "schedule",
    name: "Opaque payload: bytes that are changed after they were handed over or delivered change no stored message",
    run: onStage(async (stage) => {
      const payload = bytes("original");
      await stage.put("a", { payload });
      payload.fill(0);
      for (const settle of ["release", "retry"] as const) {
        const claim = await stage.take();
        const [message] = claim.messages;
        assert.ok(message !== undefined);
        assert.deepEqual(Buffer.from(message.payload), Buffer.from("original"));
        message.payload.fill(2);
        await stage.queue[settle](claim.receipts.map((receipt) => ({ ...receipt, delay: 0 })));
      }
      assert.deepEqual(Buffer.from((await stage.take()).messages[0]?.payload ?? []), Buffer.from("original"));
    }),
  },
  {
    promise: 11,
    operation: "get",
    name: "Opaque payload: bytes that are changed after they were handed over or given out change no stored message",
    run: onStage(async (stage) => {
      const payload = bytes("original");
      await stage.put("a", { payload });
      payload.fill(0);
      const read = await stage.read("a");
      assert.deepEqual(Buffer.from(read.payload), Buffer.from("original"));
      read.payload.fill(1);
      const claim = await stage.take();
      const [message] = claim.messages;
      assert.ok(message !== undefined);
      assert.deepEqual(Buffer.from(message.payload), Buffer.from("original"));
      message.payload.fill(2);
      await stage.queue.release(claim.receipts);
      assert.deepEqual(Buffer.from((await stage.read("a")).payload), Buffer.from("original"));
    }),
  },
];
