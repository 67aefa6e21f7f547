// accept4(2) is declared for _GNU_SOURCE only. glibc's own <netinet/tcp.h> has a shorter tcp_info than the kernel.

#define _GNU_SOURCE
#include "CLinux.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>

int qc_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }

int qc_tcp_state(int socket, uint32_t *silence, uint64_t *taken, uint32_t *unsent)
{
	struct tcp_info info = {0};
	socklen_t size = sizeof info;
	if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return -1;
	*silence = info.tcpi_last_data_recv;
	*taken = info.tcpi_bytes_acked;
	*unsent = info.tcpi_notsent_bytes;
	return 0;
}
