/** The program of a thread with simulated nodes. Started by simThreads. */
import { serveFleetShare } from "./simThreadShare.ts";

serveFleetShare();
