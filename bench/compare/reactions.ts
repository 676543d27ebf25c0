/** How soon a kubelet reacts: to the exit of a container, and to the change of a ConfigMap. */
import { mkdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { BUSYBOX_IMAGE } from "../../test/support/images.ts";
import { waitFor } from "../../test/support/waitFor.ts";
import { wallMs } from "../figures.ts";
import { type Figures, namesOf, note } from "./comparison.ts";
import type { MeasuredKubelet } from "./measuredKubelet.ts";

const EXITS = 10;
const CONFIG_MAPS = 5;
const NEW_TEXT = "second";
/** Upstream writes the files of volumes at its next sync, which may be 90 s away. */
const FILE_MS = 200_000;
/** Writes a file and ends; writes another one and stays when it is started again. */
const EXIT_ONCE = "if [ -f /out/end ]; then touch /out/again; exec sleep 3600; fi; touch /out/end";

/** Containers that end once: from the end to the start of the next, as two files of theirs say. */
export async function restarts({ pods, folder }: MeasuredKubelet, figures: Figures): Promise<void> {
  const names = namesOf("exit", EXITS);
  const times: number[] = [];
  for (const name of names) {
    const path = join(folder, name);
    await mkdir(path);
    const mount = { volumeMounts: [{ name: "out", mountPath: "/out" }] };
    const container = { ...mount, image: BUSYBOX_IMAGE, command: ["/bin/sh", "-c", EXIT_ONCE] };
    await pods.start([{ name, hasToken: false, container, volumes: [{ name: "out", hostPath: { path } }] }]);
    const again = await waitFor(`container of ${name} to start again`, () => stat(join(path, "again")));
    times.push(again.mtimeMs - (await stat(join(path, "end"))).mtimeMs);
    await pods.remove([name]);
  }
  note(figures, "exit -> next start", times);
}

/** ConfigMaps that change: from the write until the file has the text. */
export async function configMapFiles({ pods, rootDir }: MeasuredKubelet, figures: Figures): Promise<void> {
  const names = namesOf("settings", CONFIG_MAPS);
  for (const name of names) await pods.writeConfigMap(name, "first");
  const container = { volumeMounts: [{ name: "settings", mountPath: "/settings" }] };
  const volumesOf = (name: string) => [{ name: "settings", configMap: { name } }];
  await pods.start(names.map((name) => ({ name, hasToken: false, container, volumes: volumesOf(name) })));
  const delay = async (name: string): Promise<number> => {
    const { metadata } = await pods.pod(name);
    const file = join(rootDir, "pods", metadata?.uid ?? "", "volumes/kubernetes.io~configmap/settings/text");
    const at = wallMs();
    await pods.writeConfigMap(name, NEW_TEXT);
    await waitFor(`${file} to change`, async () => (await readFile(file, "utf8")) === NEW_TEXT, FILE_MS);
    return (await stat(file)).mtimeMs - at;
  };
  note(figures, "ConfigMap -> file", await Promise.all(names.map(delay)));
  await pods.remove(names);
}
