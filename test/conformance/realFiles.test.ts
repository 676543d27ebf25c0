import { createFiles } from "../../src/sinks/files.ts";
import { temporaryDirectory } from "../support/temporaryDirectory.ts";
import { filesConformance } from "./filesConformance.ts";

const dir = temporaryDirectory();

filesConformance("of this machine", async () => ({ port: createFiles(), dir: dir() }));
