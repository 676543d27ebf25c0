/**
 * Starts of containers. A shim may be killed between Docker's start and the rest: the link to the log is made before, and the
 * cgroup files of a container that was started by a killed shim are written when the container is seen running.
 */
import path from "node:path";
import { status } from "@grpc/grpc-js";
import { messageOf, RpcFault } from "../grpcServer/rpcFault.ts";
import type { ContainerDetails } from "./engine/answers.ts";
import { linkLog } from "./logLinks.ts";
import { LABEL } from "./mapping/names.ts";
import type { Shim } from "./shim.ts";

/** Prepares the first start of a container that was created. Rejects with errors of Node. */
export async function prepareStart(shim: Shim, container: Pick<ContainerDetails, "id" | "labels">): Promise<void> {
  const { id, labels } = container;
  if (labels[LABEL.logPath] !== undefined) await linkLog({ labels, logPath: await futureLog(shim, id) });
  await shim.cgroups.mark(container);
}

/** Path of the log that Docker makes at the start; empty where Docker does not say its directory, for a link after the start. */
async function futureLog({ info, report }: Shim, id: string): Promise<string> {
  const rootDir = await info().then(
    (found) => found.rootDir,
    (thrown: unknown) => {
      report(`the log of container ${id} is linked after its start: ${messageOf(thrown)}`);
      return "";
    },
  );
  return rootDir === "" ? "" : path.join(rootDir, "containers", id, `${id}-json.log`);
}

/** Starts a container. Rejects with UNKNOWN where Docker cannot start it. */
export async function startContainer(shim: Shim, id: string): Promise<void> {
  const { docker, unstarted } = shim;
  if (!unstarted.has(id)) {
    const details = await docker.inspect("container", id);
    await prepareStart(shim, details);
    unstarted.add(details.id);
  }
  try {
    await startPrepared(shim, id);
  } finally {
    unstarted.delete(id);
  }
}

/** The log of a container that cannot be started is linked too: it says why, or at least that there is none. */
async function startPrepared({ docker, cgroups }: Shim, id: string): Promise<void> {
  const failure = await docker.start(id).then(
    () => undefined,
    (thrown: unknown) => ({ thrown }),
  );
  const details = await docker.inspect("container", id);
  await linkLog(details);
  if (failure !== undefined) throw new RpcFault(status.UNKNOWN, `container "${id}": ${messageOf(failure.thrown)}`);
  await cgroups.write(details);
}

/** Whether a container that runs lacks what a killed shim has not written. */
export const isHalfStarted = ({ cgroups, unstarted }: Shim, id: string): boolean =>
  cgroups.marked().has(id) && !unstarted.has(id);

/** Writes beside what a killed shim has not written for a container; reports a failure. */
export function completeStart(shim: Shim, details: ContainerDetails): void {
  if (!details.running || !isHalfStarted(shim, details.id)) return;
  shim.cgroups
    .write(details)
    .catch((thrown: unknown) => shim.report(`cgroup of container ${details.id}: ${messageOf(thrown)}`));
}
