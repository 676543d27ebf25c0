import type { ConfigReaders } from "../../../src/cli/configReaders.ts";

/** Configuration files that exist in memory only; listed in the order given. */
export const memoryReaders = (files: Readonly<Record<string, string>>): ConfigReaders => ({
  readText: (path) => {
    const text = files[path];
    return text === undefined ? Promise.reject(new Error("no such file or directory")) : Promise.resolve(text);
  },
  listFiles: (directory) => {
    const inside = Object.keys(files).filter((path) => path.startsWith(`${directory}/`));
    return inside.length === 0 ? Promise.reject(new Error("no such file or directory")) : Promise.resolve(inside);
  },
});

/** The two lines every configuration starts with. */
export const HEADER = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";
