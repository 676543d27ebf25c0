/* Receives the messages of a service in the place of systemd. The argument is the path of the socket, or @ and the name
 * of an abstract one. Each message is a line: the process that it came from, a space, its assignments with | between. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static int sender_of(struct msghdr *message) {
  for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part != NULL; part = CMSG_NXTHDR(message, part)) {
    struct ucred sender;
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS) continue;
    memcpy(&sender, CMSG_DATA(part), sizeof sender);
    return sender.pid;
  }
  return 0;
}

int main(int argc, char **argv) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const int on = 1, fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (argc != 2 || fd < 0 || strlen(argv[1]) >= sizeof address.sun_path) return 2;
  socklen_t size = offsetof(struct sockaddr_un, sun_path) + strlen(argv[1]);
  memcpy(address.sun_path, argv[1], strlen(argv[1]));
  /* The name of an abstract socket begins with a zero and has none at its end. */
  if (argv[1][0] == '@') address.sun_path[0] = '\0';
  else size += 1;
  if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) return perror("SO_PASSCRED"), 1;
  if (bind(fd, (struct sockaddr *)&address, size) != 0) return perror("bind"), 1;
  setvbuf(stdout, NULL, _IOLBF, 0);
  puts("listening");
  for (;;) {
    char text[8192], control[256];
    struct iovec part = {.iov_base = text, .iov_len = sizeof text - 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    const ssize_t length = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    if (length < 0) return perror("recvmsg"), 1;
    text[length] = '\0';
    for (char *at = text; *at != '\0'; at++) {
      if (*at == '\n') *at = '|';
    }
    printf("%d %s\n", sender_of(&message), text);
  }
}
