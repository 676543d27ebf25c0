/** A command line as a value. */
import type { CopyOptions } from "./copyFlags.ts";
import type { DockershimOptions } from "./dockershimFlags.ts";
import type { KubeletOptions } from "./kubeletOptions.ts";
import type { ApplyOptions, DeleteOptions } from "./manifestFlags.ts";
import type { AttachOptions, ExecOptions, GetOptions, LogsOptions, PortForwardOptions } from "./podCommandFlags.ts";
import type { RetryOptions } from "./retryFlags.ts";
import type { ExplainOptions, ShowOptions, VolumesOptions } from "./showFlags.ts";
import type { TopOptions } from "./topFlags.ts";
import type { SimulateFlags } from "./simulateFlags.ts";
import type { DevOptions, RuntimeOptions, TemplateOptions } from "./subCommands.ts";

/** A sub-command with its options. */
export type SubInvocation =
  | ({ readonly command: "dev" } & DevOptions)
  | ({ readonly command: "explain" } & ExplainOptions)
  | ({ readonly command: "volumes" } & VolumesOptions)
  | ({ readonly command: "pressure" } & ShowOptions)
  | ({ readonly command: "resources" } & ShowOptions)
  | ({ readonly command: "retry" } & RetryOptions)
  | ({ readonly command: "top" } & TopOptions)
  | ({ readonly command: "get" } & GetOptions)
  | ({ readonly command: "logs" } & LogsOptions)
  | ({ readonly command: "exec" } & ExecOptions)
  | ({ readonly command: "attach" } & AttachOptions)
  | ({ readonly command: "port-forward" } & PortForwardOptions)
  | ({ readonly command: "apply" } & ApplyOptions)
  | ({ readonly command: "cp" } & CopyOptions)
  | ({ readonly command: "delete" } & DeleteOptions)
  | ({ readonly command: "template" } & TemplateOptions)
  | ({ readonly command: "runtime" } & RuntimeOptions)
  | ({ readonly command: "dockershim" } & DockershimOptions)
  | ({ readonly command: "simulate" } & SimulateFlags);

/** Errors of a command line, one line each. */
export interface WrongInvocation {
  readonly command: "error";
  readonly errors: readonly string[];
}

/** A parsed command line. */
export type Invocation =
  | { readonly command: "kubelet"; readonly options: KubeletOptions }
  | SubInvocation
  | { readonly command: "help"; readonly text: string }
  | { readonly command: "version"; readonly text: string }
  | WrongInvocation;
