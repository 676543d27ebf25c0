/** The exports of `rxlet/sim`: scenarios on a simulated node, for users' own tests. See docs/simulation.md. */
export { between, by, type ContainerClaims, type Expectation, never, type PodClaims } from "./scenario/expectations.ts";
export type { ScenarioEvent } from "./scenario/history.ts";
export { at, type Moment } from "./scenario/moment.ts";
export { type ApiPod, container, fromApi, pod, type PodManifest, type ScenarioPod } from "./scenario/scenarioPods.ts";
export {
  type CommandOutcome,
  commands,
  deafToTerm,
  exits,
  runs,
  type ScenarioPrograms,
  stopsIn,
  usesMemory,
} from "./scenario/scenarioPrograms.ts";
export type { ScenarioFaultRates } from "./scenario/randomFaults.ts";
export type { ScenarioFault } from "./scenario/scenarioReport.ts";
export { type Duration, ScenarioError } from "./scenario/scenarioTime.ts";
export type { ServerAnswer } from "./scenario/probedServers.ts";
export { during, every, type ScenarioStep, type Verbs } from "./scenario/script.ts";
export { runScenario, type Scenario, ScenarioFailed, type ScenarioResult, simulate } from "./scenario/simulate.ts";
export { diagram, inOrder, story, timeline } from "./scenario/stories.ts";
export { STATE_LETTERS, type StateLetter } from "./scenario/timeline.ts";
export type { SimProgram } from "./runtime/simProgram.ts";
