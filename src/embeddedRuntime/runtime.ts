/** The components of a runtime process, passed to every call. */
import type { ContainerEvents } from "./containerEvents.ts";
import type { Registry } from "./registry.ts";
import type { StateFiles } from "./stateFiles.ts";

/** The components that the calls share. */
export interface Runtime {
  readonly files: StateFiles;
  readonly registry: Registry;
  readonly events: ContainerEvents;
  /** The supervisor script of all containers. */
  readonly superviseFile: string;
  /** Reports a problem in one line to the operator. */
  report(line: string): void;
}
