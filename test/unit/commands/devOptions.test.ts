import { expect, it } from "vitest";
import { credentialPaths } from "../../../src/commands/devCredentials.ts";
import { devKubeletOptions } from "../../../src/commands/devOptions.ts";

it("keeps every directory of a trial below its own", async () => {
  const places = {
    manifests: "/m",
    root: "/trial",
    endpoint: "unix:///trial/s",
    credentials: credentialPaths("/trial/c"),
  };
  const { config, flags } = await devKubeletOptions({ readOnlyPort: 10255, logLevel: 2, runtime: "embedded" }, places);
  expect([config.volumePluginDir, config.podLogsDir, flags.rootDir]).toEqual([
    "/trial/volume-plugins",
    "/trial/logs/pods",
    "/trial/kubelet",
  ]);
});
