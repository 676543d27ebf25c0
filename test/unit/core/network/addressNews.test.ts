import { expect, it } from "vitest";
import { isAddressNews } from "../../../../src/core/network/addressNews.ts";

it.each([
  ["3: eth0    inet 10.9.9.1/24 scope global eth0\\       valid_lft forever preferred_lft forever", true],
  ["Deleted 3: eth0    inet 10.9.9.1/24 scope global eth0\\       valid_lft forever preferred_lft forever", true],
  ["3: eth0    inet6 2001:db8::1/64 scope global tentative \\       valid_lft forever preferred_lft forever", true],
  ["default via 10.9.9.2 dev eth0 ", true],
  ["Deleted default via 10.9.9.2 dev eth0 ", true],
  ["7: veth1    inet6 fe80::1/64 scope link \\       valid_lft forever preferred_lft forever", false],
  ["1: lo    inet 127.0.0.1/8 scope host lo\\       valid_lft forever preferred_lft forever", false],
  ["local 10.9.9.1 dev eth0 table local proto kernel scope host src 10.9.9.1 ", false],
  ["10.9.9.0/24 dev eth0 proto kernel scope link src 10.9.9.1 linkdown ", false],
  ["10.244.1.2 dev veth1 scope link ", false],
  ["Deleted broadcast 10.9.9.255 dev eth0 table local proto kernel scope link src 10.9.9.1 ", false],
  ["", false],
])("%s: %s", (line, expected) => expect(isAddressNews(line)).toBe(expected));
