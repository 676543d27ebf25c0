/** Bugs in sandboxes, volumes, and in the exchange with the API server. */
import { describeMutants } from "./describeMutants.ts";
import { diskFirst } from "./diskFirst.ts";
import { doubleStages } from "./doubleStages.ts";
import { droppedStatuses } from "./droppedStatuses.ts";
import { hastyDeletion } from "./hastyDeletion.ts";
import { hastyPublishes } from "./hastyPublishes.ts";
import { hastyUnpublishes } from "./hastyUnpublishes.ts";
import { hastyUnstages } from "./hastyUnstages.ts";
import { impatientWriter } from "./impatientWriter.ts";
import { lazyRenewals } from "./lazyRenewals.ts";
import { leakedStages } from "./leakedStages.ts";
import { newSandboxFirst } from "./newSandboxFirst.ts";
import { oldNews } from "./oldNews.ts";
import { secondMirror } from "./secondMirror.ts";
import { secretUses } from "./secretUses.ts";
import { staleObjects } from "./staleObjects.ts";
import { trustedRuntime } from "./trustedRuntime.ts";
import { unmountFirst } from "./unmountFirst.ts";

describeMutants("a kubelet that breaks its word to the cluster or its volumes is caught", [
  diskFirst,
  unmountFirst,
  newSandboxFirst,
  oldNews,
  hastyDeletion,
  secondMirror,
  impatientWriter,
  droppedStatuses,
  staleObjects,
  lazyRenewals,
  trustedRuntime,
  hastyPublishes,
  hastyUnstages,
  doubleStages,
  secretUses,
  leakedStages,
  hastyUnpublishes,
]);
