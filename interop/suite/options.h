/* The command line of the suite's programs, for those of C and C++. */

#ifndef OPTIONS_H
#define OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Periods are in milliseconds. A string that is not given is NULL. */
struct Options {
    bool publish, subscribe, reliable, print_written, use_read, take_read;
    bool presentation; /* access to more than single samples is asked for */
    int domain, deadline, strength, representation, shapesize;
    int depth; /* 0: all, negative: the vendor's default */
    int write_period, read_period, time_filter, lifespan;
    int num_iterations, num_instances, num_topics, payload, size_modulo;
    char durability, final_state;
    const char *topic, *color, *partition, *cft;
};

/* Leaves the program with status 2 where the command line is wrong. */
static struct Options parse(int argc, char **argv) {
    static const struct option long_options[] = {
        {"write-period", 1, NULL, 'W'}, {"read-period", 1, NULL, 'A'},
        {"final-instance-state", 1, NULL, 'M'}, {"access-scope", 1, NULL, 'C'},
        {"coherent", 0, NULL, 'T'}, {"ordered", 0, NULL, 'T'},
        {"coherent-sample-count", 1, NULL, 'H'}, {"additional-payload-size", 1, NULL, 'B'},
        {"num-topics", 1, NULL, 'E'}, {"lifespan", 1, NULL, 'l'}, {"num-instances", 1, NULL, 'I'},
        {"num-iterations", 1, NULL, 'n'}, {"take-read", 0, NULL, 'K'}, {"time-filter", 1, NULL, 'i'},
        {"cft", 1, NULL, 'F'}, {"size-modulo", 1, NULL, 'Q'}, {NULL, 0, NULL, 0}};
    struct Options options = {0};
    options.reliable = true;
    options.depth = options.strength = -1;
    options.representation = options.num_instances = options.num_topics = 1;
    options.shapesize = 20;
    options.write_period = 33;
    options.read_period = 100;
    options.durability = 'v';
    for (int opt; (opt = getopt_long(argc, argv, "PSbrRwc:d:D:f:k:p:s:x:t:v:z:", long_options, NULL)) != -1;)
        switch (opt) {
            case 'P': options.publish = true; break;
            case 'S': options.subscribe = true; break;
            case 'b': options.reliable = false; break;
            case 'r': options.reliable = true; break;
            case 'R': options.use_read = true; break;
            case 'w': options.print_written = true; break;
            case 'c': options.color = optarg; break;
            case 'd': options.domain = atoi(optarg); break;
            case 'D': options.durability = *optarg; break;
            case 'f': options.deadline = atoi(optarg); break;
            case 'k': options.depth = atoi(optarg); break;
            case 'p': options.partition = optarg; break;
            case 's': options.strength = atoi(optarg); break;
            case 'x': options.representation = atoi(optarg); break;
            case 't': options.topic = optarg; break;
            case 'v': break;
            case 'z': options.shapesize = atoi(optarg); break;
            case 'W': options.write_period = atoi(optarg); break;
            case 'A': options.read_period = atoi(optarg); break;
            case 'M': options.final_state = *optarg; break;
            case 'C': options.presentation |= *optarg != 'i'; break;
            case 'H': break;
            case 'T': options.presentation = true; break;
            case 'B': options.payload = atoi(optarg); break;
            case 'E': options.num_topics = atoi(optarg); break;
            case 'l': options.lifespan = atoi(optarg); break;
            case 'I': options.num_instances = atoi(optarg); break;
            case 'n': options.num_iterations = atoi(optarg); break;
            case 'K': options.take_read = true; break;
            case 'i': options.time_filter = atoi(optarg); break;
            case 'F': options.cft = optarg; break;
            case 'Q': options.size_modulo = atoi(optarg); break;
            default: exit(2);
        }
    if (options.publish == options.subscribe || !options.topic) {
        fprintf(stderr, "one of -P and -S, and -t TOPIC\n");
        exit(2);
    }
    if (options.publish && !options.color) options.color = "BLUE";
    return options;
}

#endif
