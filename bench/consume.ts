/** A consumer of one subject in a process of its own, until whoever started it lets go. */
import type { ConsumerAssignment } from "./consumer-process.js";
import { subjectNamed } from "./subjects.js";

// By `exit`: what is consumed meanwhile goes back, or is lost, with the server.
process.on("disconnect", () => process.exit());

const { subject, url, queue, concurrency } = JSON.parse(process.argv[2] ?? "") as ConsumerAssignment;
const open = await subjectNamed(subject).load?.();
if (open === undefined) throw new Error(`${subject} cannot be driven from here.`);
const harness = await open({ url, queue });
await harness.consume(() => {}, concurrency);
process.send?.("consuming");
