import type { ConfigReaders } from "../../../src/cli/configReaders.ts";

/** Configuration files that exist in memory only; listed in the order given. Those that begin with #! are programs. */
export const memoryReaders = (files: Readonly<Record<string, string>>): ConfigReaders => ({
  readText: (path) => {
    const text = files[path];
    return text === undefined ? Promise.reject(new Error("no such file or directory")) : Promise.resolve(text);
  },
  listFiles: (directory) => {
    const inside = Object.keys(files).filter((path) => path.startsWith(`${directory}/`));
    return inside.length === 0 ? Promise.reject(new Error("no such file or directory")) : Promise.resolve(inside);
  },
  look: (path) => {
    const text = files[path];
    if (text !== undefined) return Promise.resolve(text.startsWith("#!") ? "program" : "other");
    return Promise.resolve(Object.keys(files).some((file) => file.startsWith(`${path}/`)) ? "directory" : undefined);
  },
});

/** The two lines every configuration starts with. */
export const HEADER = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";
