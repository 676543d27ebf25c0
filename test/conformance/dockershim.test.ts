import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { runDockershim } from "../../src/dockershim/runDockershim.ts";
import { createCriClient } from "../../src/sinks/cri.ts";
import { describeOnDocker } from "../support/dockerInstallation.ts";
import { BUSYBOX_IMAGE, PAUSE_IMAGE } from "../support/images.ts";
import { startPrivateDocker } from "../support/privateDocker.ts";
import { realClock } from "../support/realClock.ts";
import { runtimeServiceConformance } from "./runtimeService.ts";

const features = {
  containerEvents: true,
  runtimeConfig: true,
  exec: true,
  logs: true,
  logFormat: "docker",
  mounts: true,
} as const;

describeOnDocker("dockershim", (installation) => {
  runtimeServiceConformance("dockershim", features, async () => {
    const docker = await startPrivateDocker(installation);
    const logRoot = join(docker.folder, "logs");
    await mkdir(logRoot);
    const socketPath = join(docker.folder, "cri.sock");
    const shim = await runDockershim({
      socketPath,
      dockerEndpoint: docker.endpoint,
      stateDir: join(docker.folder, "shim"),
      podSandboxImage: PAUSE_IMAGE,
      log: (line) => void process.stderr.write(`dockershim: ${line}\n`),
    });
    const client = createCriClient({ endpoint: `unix://${socketPath}`, clock: realClock, defaultDeadlineMs: 120_000 });
    return {
      port: client,
      image: BUSYBOX_IMAGE,
      shell: ["/bin/sh", "-c"],
      logRoot,
      cgroupParent: docker.cgroupParent,
      features,
      close: async () => {
        client.close();
        await shim.close();
        await docker.stop();
      },
    };
  });
});
