import { atLeastOnceCases } from "./cases/at-least-once.js";
import { attemptsCases } from "./cases/attempts.js";
import { auditCases } from "./cases/audit.js";
import { boundedWorkCases } from "./cases/bounded-work.js";
import { cancelCases } from "./cases/cancel.js";
import { claimCases } from "./cases/claim.js";
import { closingCases } from "./cases/closing.js";
import { comesBackCases } from "./cases/comes-back.js";
import { consumeCases } from "./cases/consume.js";
import { deadLetterCases } from "./cases/dead-letters.js";
import { deliveriesCases } from "./cases/deliveries.js";
import { dueTimeCases } from "./cases/due-times.js";
import { eventsAndHealthCases } from "./cases/events-and-health.js";
import { expiryCases } from "./cases/expiry.js";
import { handlerCases } from "./cases/handler.js";
import { idempotentScheduleCases } from "./cases/idempotent-schedule.js";
import { idleCostCases } from "./cases/idle-cost.js";
import { inputCases } from "./cases/input.js";
import { leaseCases } from "./cases/lease.js";
import { listCases } from "./cases/list.js";
import { messageIdCases } from "./cases/message-ids.js";
import { neverEarlyCases } from "./cases/never-early.js";
import { oneClockCases } from "./cases/one-clock.js";
import { orderCases } from "./cases/order.js";
import { pauseCases } from "./cases/pause.js";
import { payloadCases } from "./cases/payload.js";
import { purgeCases } from "./cases/purge.js";
import { queueUpkeepCases } from "./cases/queue-upkeep.js";
import { readCases } from "./cases/read.js";
import { receiveCases } from "./cases/receive.js";
import { redeliveryCases } from "./cases/redelivery.js";
import { rememberCases } from "./cases/remember.js";
import { rescheduleCases } from "./cases/reschedule.js";
import { returnsCases } from "./cases/returns.js";
import { settleCases } from "./cases/settle.js";
import { wakingCases } from "./cases/waking.js";
import type { ConformanceCase } from "./conformance-case.js";

/** Every case that an engine is held to, by topic. */
export const conformanceCases: readonly ConformanceCase[] = [
  ...neverEarlyCases,
  ...dueTimeCases,
  ...atLeastOnceCases,
  ...claimCases,
  ...returnsCases,
  ...leaseCases,
  ...idempotentScheduleCases,
  ...rememberCases,
  ...settleCases,
  ...attemptsCases,
  ...expiryCases,
  ...deadLetterCases,
  ...orderCases,
  ...cancelCases,
  ...rescheduleCases,
  ...readCases,
  ...listCases,
  ...purgeCases,
  ...auditCases,
  ...pauseCases,
  ...payloadCases,
  ...messageIdCases,
  ...boundedWorkCases,
  ...redeliveryCases,
  ...inputCases,
  ...consumeCases,
  ...handlerCases,
  ...queueUpkeepCases,
  ...receiveCases,
  ...deliveriesCases,
  ...wakingCases,
  ...closingCases,
  ...eventsAndHealthCases,
  ...comesBackCases,
  ...oneClockCases,
  ...idleCostCases,
];
