import { temporaryDirectory } from "../support/temporaryDirectory.ts";
import { filesConformance } from "./filesConformance.ts";
import { realFiles } from "../support/realFiles.ts";

const dir = temporaryDirectory();

filesConformance("of this machine", async () => ({ port: realFiles(), dir: dir() }));
