/** Reminds people of appointments, which move. */
import { Queue } from "punctual";
import { redisEngine } from "punctual/engines/redis";

const engine = redisEngine({ url: "redis://127.0.0.1:6379" });
const reminders = new Queue<{ to: string; text: string }>("reminders", { engine });

// A day before the appointment; an hour after that the reminder is of no use any more and is not delivered.
const appointment = new Date("2040-05-02T09:00:00Z");
const dayBefore = new Date(appointment.getTime() - 24 * 60 * 60 * 1_000);
const { id, dueAt } = await reminders.schedule(
  { to: "ada@example.com", text: "Tomorrow at 9" },
  { at: dayBefore, expiresIn: "1h", id: "appointment:17" },
);
console.log(dueAt.toISOString()); // 2040-05-01T09:00:00.000Z

// It moves by two hours: another time, and another text.
const later = new Date(dayBefore.getTime() + 2 * 60 * 60 * 1_000);
console.log(await reminders.reschedule(id, { at: later })); // rescheduled
const { outcome } = await reminders.schedule(
  { to: "ada@example.com", text: "Tomorrow at 11" },
  { at: later, expiresIn: "1h", id, onDuplicate: "replace" },
);
console.log(outcome); // replaced

console.log((await reminders.get(id))?.payload.text); // Tomorrow at 11
console.log(await reminders.cancel(id)); // cancelled
await engine.close();
