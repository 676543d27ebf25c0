/** Reads the configuration of a running daemon again, as its next process would. */
import { defer, from, map, type Observable, of, switchMap } from "rxjs";
import type { Invocation } from "../cli/invocation.ts";
import { hostFault } from "../core/config/hostFault.ts";
import { readMachine } from "../sources/machine.ts";
import { machineOptions } from "./machineOptions.ts";

/**
 * Emits the reasons why a kubelet does not start with the command line that `load` reads, the files that it names and this
 * machine; an empty list when it starts.
 */
export const configurationFaults = (load: () => Promise<Invocation>): Observable<readonly string[]> =>
  defer(() => from(load())).pipe(
    switchMap((invocation) => {
      if (invocation.command === "error") return of(invocation.errors);
      if (invocation.command !== "kubelet") return of([`the command is ${invocation.command}`]);
      const { options } = invocation;
      return readMachine(machineOptions(options)).pipe(
        map((machine) => hostFault(options.config, machine)),
        map((fault) => (fault === undefined ? [] : [fault.message])),
      );
    }),
  );
