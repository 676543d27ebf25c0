/** Bugs in boots without the API server. */
import { describeMutants } from "./describeMutants.ts";
import { forgottenEnds } from "./forgottenEnds.ts";
import { stayingRecords } from "./stayingRecords.ts";
import { unheardServer } from "./unheardServer.ts";

describeMutants("a kubelet that trusts its disk too much, or too long, is caught", [
  forgottenEnds,
  stayingRecords,
  unheardServer,
]);
