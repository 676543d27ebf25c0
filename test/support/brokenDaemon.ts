/** A daemon that breaks an invariant when it is about to write a certain log line, wherever that is written. */
import { createLogger } from "../../src/sinks/logger.ts";
import { runProgram } from "../../src/cli/program.ts";
import { watchThreads } from "../../src/commands/endProcess.ts";
import { fail, failOnBrokenInvariants } from "../../src/commands/fail.ts";
import { runNode } from "../../src/commands/runNode.ts";
import { invariant } from "../../src/core/invariant.ts";
import type { Logger } from "../../src/ports/telemetry.ts";
import { systemClock } from "../../src/sources/systemClock.ts";

const { RXLET_BREAKS_AT } = process.env;

function breaking(log: Logger): Logger {
  const checked =
    (write: Logger["info"]): Logger["info"] =>
    (message, fields) => {
      invariant(message !== RXLET_BREAKS_AT, message);
      write(message, fields);
    };
  const { info, warn, error } = log;
  const levels = { info: checked(info), warn: checked(warn), error: checked(error) };
  return { ...log, ...levels, with: (fields) => breaking(log.with(fields)) };
}

watchThreads();
failOnBrokenInvariants();
const invocation = await runProgram(process.argv.slice(2), { version: "test" });
if (invocation.command !== "kubelet") throw new Error(JSON.stringify(invocation));
const log = createLogger({ format: "json", verbosity: 2, wallTime: () => systemClock.wallTime() });
const broken = { ...breaking(log), setVerbosity: (level: number) => log.setVerbosity(level) };
runNode({ options: invocation.options, log: broken, version: "test" }).subscribe({ error: fail });
