/// IceBox with IceStorm in it, as the article had it.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>

#include "lab.hpp"

/// Where the broker's topic manager listens.
inline std::string manager_endpoint(const lab::Options& options) {
    return "tcp -h " + options.broker() + " -p " + std::to_string(options.port(0));
}

/// Writes the broker's configuration; returns its name.
inline std::string configure_broker(const lab::Options& options) {
    const std::string name = options.dir + "/config.icebox";
    const std::string threads = std::to_string(options.threads.value_or(1));
    std::ofstream config(name);
    config << "IceBox.Service.IceStorm=IceStormService,37:createIceStorm\n"
           << "IceBox.InheritProperties=1\n"
           << "IceBox.PrintServicesReady=IceStorm\n"
           << "IceStorm.Transient=1\n"
           << "IceStorm.TopicManager.Endpoints=" << manager_endpoint(options) << '\n'
           << "IceStorm.Publish.Endpoints=tcp -h " << options.here << " -p " << options.port(1) << '\n'
           << "Ice.MessageSizeMax=0\n"
           << "Ice.ThreadPool.Server.Size=" << threads << '\n'
           << "Ice.ThreadPool.Server.SizeMax=" << threads << '\n'
           << "Ice.ThreadPool.Client.Size=" << threads << '\n'
           << "Ice.ThreadPool.Client.SizeMax=" << threads << '\n';
    config.close();
    if (!config) throw std::runtime_error(name + ": cannot be written");
    return name;
}

/// Runs the broker until nobody needs it.
inline void run_broker(const lab::Options& options) {
    const std::string config = "--Ice.Config=" + configure_broker(options);
    int out[2];
    if (pipe(out) != 0) throw std::runtime_error("no pipe");
    const pid_t icebox = fork();
    if (icebox < 0) throw std::runtime_error("no process");
    if (icebox == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        dup2(out[1], STDOUT_FILENO);
        close(out[0]);
        close(out[1]);
        execlp("icebox", "icebox", config.c_str(), nullptr);
        _exit(127);
    }
    close(out[1]);
    char byte;
    std::string said;
    while (said.find("IceStorm ready") == std::string::npos && read(out[0], &byte, 1) == 1) said += byte;
    const bool is_ready = said.find("IceStorm ready") != std::string::npos;
    if (is_ready) {
        std::puts("ready");
        std::fflush(stdout);
        while (read(STDIN_FILENO, &byte, 1) > 0) continue;
    }
    kill(icebox, SIGTERM);
    waitpid(icebox, nullptr, 0);
    if (!is_ready) throw std::runtime_error("icebox has not started");
}
