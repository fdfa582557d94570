export { conformanceCases } from "./cases.js";
export type { ConformanceCase, ConformanceHarness, ConformanceSubject, Operation } from "./conformance-case.js";
export type { Deviation } from "./deviation.js";
export { movedTime, type PassingTime, realTime } from "./passing-time.js";
export { type PromiseNumber, promises } from "./promises.js";
export { type ConformanceOptions, type ConformanceRunner, type RegisterTest, runConformance } from "./run.js";
