#!/usr/bin/env perl
# An example adapter: the op `fold` in Perl, with nothing but what comes with Perl. It says which logs it refuses, not why.
use strict;
use warnings;
use JSON::PP;

my $json = JSON::PP->new->ascii->canonical->allow_nonref;
$| = 1;

# The event types that are nodes of the surface, by format.
my %surface = map { $_ => 1 } qw(system/message user/message assistant/message tool/result);
my %surface_of = (3 => \%surface, 4 => { %surface, 'developer/message' => 1 });

while (my $line = <STDIN>) {
    my $message = $json->decode($line);
    my $command = $message->{cmd};
    last if $command eq 'stop';
    print $json->encode(
        $command eq 'start'          ? { protocol => 1, implementation => { name => 'perl-fold', language => 'Perl' } }
        : $command eq 'capabilities' ? { ops => { fold => [3, 4] }, reports => [] }
        :                              answer($message)
    ), "\n";
}

sub answer {
    my ($message) = @_;
    my $number = $message->{number} + 0;
    my $input = $message->{input};
    return { number => $number, error => 'no events' } unless ref $input->{events} eq 'ARRAY';
    my $value = eval { fold($message->{format}, @{ $input->{events} }) };
    return $value ? { number => $number, ok => $value } : { number => $number, refused => JSON::PP::true, note => "$@" };
}

sub fold {
    my ($format, @events) = @_;
    my @nodes;
    my ($replaced, $offloaded) = (0, 0);
    my %type_of;
    for my $expected (0 .. $#events) {
        my $event = $events[$expected];
        my ($seq, $type) = @$event{qw(seq type)};
        die "event $expected has another number\n" unless is_count($seq) && $seq == $expected;
        $type_of{$seq} = $type;
        # Events that a format does not know are ignorable, and free to have any members.
        next if $event->{ignorable} && $type !~ m{^(?:turn|step|session|todo)/} && !$surface_of{$format}{$type};
        if (!$surface_of{$format}{$type}) {
            die "event $seq is not for the surface\n" if exists $event->{surfaceOp} || exists $event->{sourceEventSeqs};
            $offloaded++ if $type eq 'image/offload';
            next;
        }
        my %cited = map { $_ => 1 } cited($event);
        my $operation = $event->{surfaceOp};
        if (defined $operation && !ref $operation && $operation eq 'append') {
            push @nodes, $seq;
            next;
        }
        my ($start, $end) = range($event, @nodes);
        my @gone = @nodes[$start .. $end];
        $cited{$_} or die "event $seq does not cite $_\n" for @gone;
        check_kind($event, \@events, \%type_of, $start, @gone);
        splice @nodes, $start, @gone, $seq;
        $replaced++;
    }
    return {
        nodes             => [map { $_ + 0 } @nodes],
        replaceGeneration => $replaced,
        contentGeneration => $replaced + $offloaded,
    };
}

# The numbers that an event cites: earlier ones, each once.
sub cited {
    my ($event) = @_;
    return unless exists $event->{sourceEventSeqs};
    my $seqs = $event->{sourceEventSeqs};
    die "the sources are no list\n" unless ref $seqs eq 'ARRAY' && @$seqs;
    die "an answer cites nothing\n" if $event->{type} eq 'assistant/message';
    my %seen;
    for (@$seqs) {
        die "a source is no earlier number\n" unless is_count($_) && $_ < $event->{seq};
        die "a source is repeated\n" if $seen{$_}++;
    }
    return @$seqs;
}

# The places of the nodes that a replacement names.
sub range {
    my ($event, @nodes) = @_;
    my $operation = $event->{surfaceOp};
    die "no operation\n" unless ref $operation eq 'HASH' && join(' ', sort keys %$operation) eq 'endSeq op startSeq';
    die "no replacement\n" unless $operation->{op} eq 'replace';
    my %place = map { $nodes[$_] => $_ } 0 .. $#nodes;
    my ($start, $end) = map { is_count($_) ? $place{$_} : undef } @$operation{qw(startSeq endSeq)};
    die "an end of the range is not on the surface\n" unless defined $start && defined $end;
    die "the range ends before it starts\n" if $end < $start;
    return ($start, $end);
}

# The system prompt at the head and the results of tools are replaced by their like alone.
sub check_kind {
    my ($event, $events, $type_of, $start, @gone) = @_;
    my $type = $event->{type};
    if ($start == 0 && $type_of->{ $gone[0] } eq 'system/message') {
        die "the head is replaced by something else\n" unless $type eq 'system/message' && @gone == 1;
    }
    return unless $type eq 'tool/result';
    die "a result replaces something else\n" unless @gone == 1 && $type_of->{ $gone[0] } eq 'tool/result';
    my ($old, $new) = map { without_content($_) } $events->[$gone[0]]{data}, $event->{data};
    die "a result may change its content alone\n" unless $old eq $new;
}

sub without_content {
    my ($data) = @_;
    my $copy = $json->decode($json->encode($data));
    my $content = $copy->{message}{content};
    my $is_block = ref $content eq 'ARRAY' && ref $content->[0] eq 'HASH' && exists $content->[0]{toolCallId};
    $is_block ? ($content->[0]{content} = undef) : ($copy->{message}{content} = undef);
    return $json->encode($copy);
}

sub is_count {
    my ($value) = @_;
    return defined $value && !ref $value && $json->encode($value) =~ /^\d+$/;
}
