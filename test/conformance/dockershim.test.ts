import { describeOnDocker } from "../support/dockerInstallation.ts";
import { DOCKER_FEATURES, startDockershimNode } from "../support/dockershimNode.ts";
import { runtimeServiceConformance } from "./runtimeService.ts";

describeOnDocker("dockershim", (installation) => {
  runtimeServiceConformance("dockershim", DOCKER_FEATURES, async () => {
    const node = await startDockershimNode(installation);
    return { ...node.under.fixture, close: () => node.stop() };
  });
});
