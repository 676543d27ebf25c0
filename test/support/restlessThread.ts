/** A thread of simulated nodes with a bug: see restlessKubelet. */
import { serveFleetShare } from "../../src/commands/simThreadShare.ts";
import { restlessKubelet } from "./brokenKubelets.ts";

serveFleetShare(restlessKubelet);
