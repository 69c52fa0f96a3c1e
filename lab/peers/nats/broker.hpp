/// nats-server, without anything on disk but its configuration and log.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

#include "connection.hpp"
#include "lab.hpp"

/// Writes the server's configuration; returns its name.
inline std::string configure_broker(const lab::Options& options) {
    const std::string name = options.dir + "/nats.conf";
    std::ofstream config(name);
    config << "listen: \"" << options.here << ':' << options.port(0) << "\"\n"
           << "log_file: \"" << options.dir << "/nats.log\"\n"
           << "max_payload: " << MAX_PAYLOAD << '\n'
           << "max_pending: " << MAX_PENDING << '\n';
    config.close();
    if (!config) throw std::runtime_error(name + ": cannot be written");
    return name;
}

/// Runs the server until nobody needs it.
inline void run_broker(const lab::Options& options) {
    const std::string config = configure_broker(options);
    if (options.threads) setenv("GOMAXPROCS", std::to_string(*options.threads).c_str(), 1);
    const pid_t server = fork();
    if (server < 0) throw std::runtime_error("no process");
    if (server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        execlp("nats-server", "nats-server", "--config", config.c_str(), nullptr);
        _exit(127);
    }
    std::string error;
    try {
        Connection(options).synchronize();
        std::puts("ready");
        std::fflush(stdout);
        char byte;
        while (read(STDIN_FILENO, &byte, 1) > 0) continue;
    } catch (const std::exception& failure) {
        error = failure.what();
    }
    kill(server, SIGTERM);
    waitpid(server, nullptr, 0);
    if (!error.empty()) throw std::runtime_error("nats-server has not started: " + error);
}
