/** The parts of one runtime process, as every call gets them. */
import type { ContainerEvents } from "./containerEvents.ts";
import type { Registry } from "./registry.ts";
import type { StateFiles } from "./stateFiles.ts";

/** Everything the calls work on. */
export interface Runtime {
  readonly files: StateFiles;
  readonly registry: Registry;
  readonly events: ContainerEvents;
  /** The shell file every container is started with. */
  readonly superviseFile: string;
  /** One line for whoever runs the runtime. */
  report(line: string): void;
}
