/** Bugs in the lives of pods and containers. */
import { believedOrders } from "./believedOrders.ts";
import { deafToSources } from "./deafToSources.ts";
import { describeMutants } from "./describeMutants.ts";
import { doubleBooking } from "./doubleBooking.ts";
import { eagerRestarts } from "./eagerRestarts.ts";
import { flatCurve } from "./flatCurve.ts";
import { forgottenRestarts } from "./forgottenRestarts.ts";
import { growingGrace } from "./growingGrace.ts";
import { hastySuccessor } from "./hastySuccessor.ts";
import { hastyTenants } from "./hastyTenants.ts";
import { lateFarewells } from "./lateFarewells.ts";
import { leakedCgroups } from "./leakedCgroups.ts";
import { leakedLogs } from "./leakedLogs.ts";
import { openDoors } from "./openDoors.ts";
import { readyRegardless } from "./readyRegardless.ts";
import { repeatedHooks } from "./repeatedHooks.ts";
import { restartedWhileStopping } from "./restartedWhileStopping.ts";
import { revivedPods } from "./revivedPods.ts";
import { sharedUserIds } from "./sharedUserIds.ts";
import { sidecarsFirst } from "./sidecarsFirst.ts";
import { skippedStartup } from "./skippedStartup.ts";
import { trustedEvents } from "./trustedEvents.ts";
import { unmadeSizes } from "./unmadeSizes.ts";

describeMutants("a kubelet that breaks the lives of pods is caught", [
  growingGrace,
  trustedEvents,
  forgottenRestarts,
  sharedUserIds,
  deafToSources,
  restartedWhileStopping,
  believedOrders,
  hastySuccessor,
  hastyTenants,
  lateFarewells,
  revivedPods,
  openDoors,
  leakedCgroups,
  leakedLogs,
  eagerRestarts,
  flatCurve,
  repeatedHooks,
  sidecarsFirst,
  skippedStartup,
  readyRegardless,
  unmadeSizes,
  doubleBooking,
]);
