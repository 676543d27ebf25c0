/** Cluster tests that take minutes. Each has its own node; all run at the same time because they mostly wait. */
import { describe } from "vitest";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { killTests } from "./clusterKills.ts";
import { outageTests } from "./clusterOutage.ts";
import { rotationTests } from "./clusterRotation.ts";

describe.concurrent("a node of a cluster, over minutes", () => {
  describeOnContainerd("whose API server is away", outageTests);
  describeOnContainerd("whose daemon is killed", killTests);
  describeOnContainerd("that renews its certificate", rotationTests);
});
