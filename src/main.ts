#!/usr/bin/env node
/** Composition root: what the command line asks for is subscribed once here, and its end becomes the exit code. */
import "./commands/threadPoolSize.ts";
import { concat, fromEvent, map, merge, Observable, race, take, takeUntil, tap } from "rxjs";
import { startingLine } from "./cli/devBanner.ts";
import type { Invocation, SubInvocation } from "./cli/invocation.ts";
import { runProgram } from "./cli/program.ts";
import { endProcess, restartProcess, watchThreads } from "./commands/endProcess.ts";
import { fail, failOnBrokenInvariants } from "./commands/fail.ts";
import { tuneNodeHeap } from "./commands/nodeHeap.ts";
import { KUBERNETES_VERSION } from "./commands/version.ts";
import { stopRequests, UNREAD_GRACE_MS } from "./commands/stopRequests.ts";
import { readerGone } from "./sources/readerGone.ts";
import { systemClock } from "./sources/systemClock.ts";

const EXIT_FAILURE = 1;
/** A shell's for SIGINT. */
const EXIT_SIGNALLED = 130;

const signal = (name: NodeJS.Signals): Observable<NodeJS.Signals> => fromEvent(process, name).pipe(map(() => name));
const stops$ = merge(signal("SIGINT"), signal("SIGTERM"));
const hangup$ = signal("SIGHUP");
const signals$ = merge(stops$, hangup$);

/** The reader of our output has gone (`rxlet dev | head`), which counts as a hangup. */
const outputGone$ = merge(fromEvent(process.stdout, "error"), readerGone(process.stdout.fd, systemClock)).pipe(take(1));
process.stdout.on("error", () => undefined);

const sayUnread = (): void =>
  void process.stderr.write(
    `rxlet: nobody reads the output any more: stopping the pods, for ${UNREAD_GRACE_MS / 1000}s at most\n`,
  );

const ended$ = merge(signals$, outputGone$);

/** Commands that call a running node. */
type NodeCall = Extract<
  SubInvocation,
  {
    command:
      | "explain"
      | "volumes"
      | "pressure"
      | "resources"
      | "retry"
      | "top"
      | "get"
      | "logs"
      | "exec"
      | "attach"
      | "port-forward"
      | "cp"
      | "apply"
      | "delete";
  }
>;

/** Each command loads its own modules alone: a daemon on a node carries neither the runtime nor the table of `dev`. */
async function main(invocation: Invocation): Promise<void> {
  switch (invocation.command) {
    case "help":
    case "version":
      process.stdout.write(`${invocation.text.trimEnd()}\n`);
      break;
    case "error":
      process.stderr.write(invocation.errors.map((error) => `rxlet: ${error}\n`).join(""));
      process.exitCode = EXIT_FAILURE;
      break;
    case "runtime": {
      const { embeddedRuntime } = await import("./commands/runtime.ts");
      run(embeddedRuntime(invocation, signals$.pipe(take(1))));
      break;
    }
    case "dockershim": {
      const { dockershim } = await import("./commands/dockershim.ts");
      run(dockershim(invocation, signals$.pipe(take(1))));
      break;
    }
    case "dev": {
      tuneNodeHeap();
      process.stdout.write(`${startingLine(invocation.dir)}\n`);
      const { dev } = await import("./commands/dev.ts");
      run(dev(invocation, stopRequests(signals$, outputGone$.pipe(tap(sayUnread)), systemClock), process.stdout));
      break;
    }
    case "template": {
      const { template } = await import("./commands/template.ts");
      run(template(invocation, process.stdout, process.stderr));
      break;
    }
    case "simulate": {
      const { simulate } = await import("./commands/simulate.ts");
      process.exitCode = await simulate(invocation, process.stdout);
      break;
    }
    case "kubelet": {
      tuneNodeHeap();
      const { daemon } = await import("./commands/daemon.ts");
      let end = endProcess;
      const node$ = daemon(invocation.options, { stop$: stops$, hangup$, load: readCommandLine });
      const restarts = tap<{ readonly kind: string; readonly successor?: string }>(({ kind, successor }) => {
        if (kind === "restart" && successor === "inPlace") end = restartProcess;
      });
      run(node$.pipe(restarts), (code) => end(code));
      break;
    }
    default:
      await callNode(invocation);
  }
}

/** Commands that show the node. */
type ShowCall = Extract<NodeCall, { command: "explain" | "volumes" | "pressure" | "resources" | "retry" | "top" }>;

/** Runs a command that calls a running node. */
async function callNode(invocation: NodeCall): Promise<void> {
  switch (invocation.command) {
    case "get": {
      const { getObjects } = await import("./commands/getObjects.ts");
      run(written(getObjects(invocation, process.stdout, process.stderr)).pipe(takeUntil(ended$)));
      break;
    }
    case "logs": {
      const { logs } = await import("./commands/logs.ts");
      run(written(logs(invocation, process.stdout, process.stderr)).pipe(takeUntil(ended$)));
      break;
    }
    case "exec": {
      const { exec } = await import("./commands/exec.ts");
      runCommand(exec(invocation, process));
      break;
    }
    case "attach": {
      const { attach } = await import("./commands/exec.ts");
      runCommand(attach(invocation, process));
      break;
    }
    case "cp": {
      const { copy } = await import("./commands/copy.ts");
      runCommand(copy(invocation, process.stderr));
      break;
    }
    case "apply": {
      const { apply } = await import("./commands/apply.ts");
      runCommand(apply(invocation, process.stdout, process.stderr));
      break;
    }
    case "delete": {
      const { deleteObjects } = await import("./commands/deleteObjects.ts");
      runCommand(deleteObjects(invocation, process.stdout, process.stderr));
      break;
    }
    case "port-forward": {
      const { portForward } = await import("./commands/portForward.ts");
      run(portForward(invocation, process.stdout, process.stderr).pipe(takeUntil(ended$)));
      break;
    }
    default:
      await showNode(invocation);
  }
}

/** Runs a command that shows the node. */
async function showNode(invocation: ShowCall): Promise<void> {
  switch (invocation.command) {
    case "explain": {
      const { explain } = await import("./commands/explain.ts");
      run(explain(invocation, process.stdout));
      break;
    }
    case "volumes": {
      const { volumes } = await import("./commands/volumes.ts");
      run(volumes(invocation, process.stdout));
      break;
    }
    case "pressure": {
      const { pressure } = await import("./commands/pressure.ts");
      run(pressure(invocation, process.stdout));
      break;
    }
    case "resources": {
      const { resources } = await import("./commands/resources.ts");
      run(resources(invocation, process.stdout));
      break;
    }
    case "retry": {
      const { retryPod } = await import("./commands/retry.ts");
      run(retryPod(invocation, process.stdout));
      break;
    }
    case "top": {
      const { top } = await import("./commands/top.ts");
      run(top(invocation, process.stdin, process.stdout).pipe(takeUntil(ended$)));
      break;
    }
  }
}

/** Ends with the exit code of a command in a container, or as the signal that ended this one. */
function runCommand(exitCode$: Observable<number>): void {
  const signalled$ = ended$.pipe(map(() => EXIT_SIGNALLED));
  run(race(written(exitCode$), signalled$).pipe(tap((code) => (process.exitCode = code))));
}

/** Completes after a command has completed and its reader, however slow, has taken the whole output. */
const written = <T>(command$: Observable<T>): Observable<T> =>
  concat(command$, ...[process.stdout, process.stderr].map(flushed));

/** Completes when everything written so far has left this process, or its reader has gone. */
const flushed = (output: NodeJS.WriteStream): Observable<never> =>
  new Observable((done) => {
    const end = () => done.complete();
    // Stays until the process ends: the event comes after the callback of the write.
    output.once("error", end);
    output.write("", end);
  });

function run(command$: Observable<unknown>, end: (code: number) => void = endProcess): void {
  command$.subscribe({
    error: fail,
    complete: () => end(Number(process.exitCode ?? 0)),
  });
}

const readCommandLine = (): Promise<Invocation> => runProgram(process.argv.slice(2), { version: KUBERNETES_VERSION });

watchThreads();
failOnBrokenInvariants();
await main(await readCommandLine()).catch(fail);
